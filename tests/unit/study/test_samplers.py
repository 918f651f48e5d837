"""Sampling of chains: which warm-up goes with which kernel, in which segments, until when."""

from typing import Any

import pytest

from nlobayes.adaptations import WARMUPS
from nlobayes.adaptations.windows import FEWEST_ADAPTING_STEPS, WindowWarmup
from nlobayes.kernels import KERNELS
from nlobayes.kernels.nuts import NUTSKernel
from nlobayes.kernels.tempering import TemperingKernel
from nlobayes.methods.mcmc import MCMC
from nlobayes.settings.agreement import Agreement
from nlobayes.study.evaluation import Thresholds
from nlobayes.study.study import Study
from tests.refusals import invalid, refused
from tests.unit.study.small import make_study

WARMUP_OF = {kind: settings.warmup for kind, settings in KERNELS.items()}
FEWEST_CHAINS = {kind: settings.fewest_chains for kind, settings in KERNELS.items()}


def chains_of(study: Study, name: str) -> MCMC:
    """Return the preset of this name, one of chains."""
    method = study.methods[name]
    assert isinstance(method, MCMC)
    return method


def sampler(**changes: Any) -> MCMC:
    """Make the sampler of HMC, with changes."""
    return chains_of(make_study({"methods": {"hmc": changes}}), "hmc")


def test_every_kernel_names_its_warmup() -> None:
    """No warm-up tunes nothing."""
    assert WARMUP_OF.keys() == KERNELS.keys()
    assert {*WARMUP_OF.values()} == WARMUPS.keys()


@pytest.mark.parametrize("kind", WARMUP_OF)
@pytest.mark.parametrize("warmup", [None, {}, {"steps": 80}], ids=str)
def test_the_kind_of_the_warmup_follows_from_the_kernel(
    kind: str, warmup: dict[str, Any] | None
) -> None:
    given = {} if warmup is None else {"warmup": warmup}
    found = chains_of(make_study({"methods": {"other": preset(kind, **given)}}), "other").warmup
    assert found.kind == WARMUP_OF[kind]
    assert found.steps == (warmup or {}).get("steps", 400)
    named = preset(kind, warmup={"kind": WARMUP_OF[kind], **(warmup or {})})
    assert chains_of(make_study({"methods": {"other": named}}), "other").warmup == found


def preset(kind: str, **keys: Any) -> dict[str, Any]:
    """Make a sampler of a kernel with all its defaults."""
    chains = max(FEWEST_CHAINS[kind], 4)
    return {"kernel": {"kind": kind}, "draws_per_segment": 16, "chains": chains, **keys}


@pytest.mark.parametrize("kind", WARMUP_OF)
@pytest.mark.parametrize("warmup", sorted({*WARMUP_OF.values(), "none"}))
def test_the_warmup_of_another_kernel_is_refused(kind: str, warmup: str) -> None:
    if warmup == WARMUP_OF[kind]:
        make_study({"methods": {"other": preset(kind, warmup={"kind": warmup})}})
        return
    other = preset(kind, warmup={"kind": warmup})
    with refused("study.warmup_of_other_kernel", places=["methods.other"]):
        make_study({"methods": {"other": other}})
    needed = WARMUP_OF[kind]
    with invalid("study.warmup_of_other_kernel", given=warmup, kernel=kind, needed=needed):
        MCMC.model_validate(other)


@pytest.mark.parametrize("threshold", [0.5, 99.9, float("nan"), float("inf")])
def test_nuts_has_a_least_threshold_of_divergence(threshold: float) -> None:
    """A tree that a small energy error ends would not be reversible."""
    kernel = {"kind": "nuts", "divergence_threshold": threshold}
    with refused("study.refused", places=["methods.other.kernel.nuts.divergence_threshold"]):
        make_study({"methods": {"other": preset("nuts") | {"kernel": kernel}}})
    allowed = kernel | {"divergence_threshold": 100}
    assert MCMC.model_validate(preset("nuts") | {"kernel": allowed})


@pytest.mark.parametrize(
    ("kind", "fewest"), [(kind, fewest) for kind, fewest in FEWEST_CHAINS.items() if fewest > 2]
)
def test_chains_that_learn_together_need_to_be_many(kind: str, fewest: int) -> None:
    few = preset(kind) | {"chains": fewest - 1}
    with refused("study.too_few_chains", places=["methods.other.chains"]):
        make_study({"methods": {"other": few}})
    with invalid("study.too_few_chains", kernel=kind, chains=fewest - 1, fewest=fewest):
        MCMC.model_validate(few)


@pytest.mark.parametrize(
    "ladder", [[1], [], [0.9, 0.1], [1, 0.5, 0.5], [1, 0.1, 0.3], [1, -0.1], [1, float("nan")]]
)
def test_a_ladder_falls_from_the_posterior(ladder: list[float]) -> None:
    def climb(inverse_temperatures: list[float]) -> MCMC:
        kernel = {"kind": "tempering", "inverse_temperatures": inverse_temperatures}
        return chains_of(
            make_study({"methods": {"other": preset("tempering", kernel=kernel)}}), "other"
        )

    with refused("study.no_ladder", places=["methods.other.kernel.tempering"]):
        climb(ladder)
    kernel = climb([1, 0.3, 0]).kernel
    assert kernel.model_dump()["inverse_temperatures"] == (1, 0.3, 0)
    assert kernel.replicas == 3


def test_moves_that_the_kernel_does_not_make_are_not_annealed() -> None:
    kernel = {"kind": "reversible_jump", "moves": ["prior"], "annealed": ["conditional"]}
    with refused("study.annealed_others", places=["methods.other.kernel.reversible_jump"]):
        make_study({"methods": {"other": preset("reversible_jump", kernel=kernel)}})


def test_reversible_jumps_may_move_by_nuts_within_a_size() -> None:
    def kernel(**settings: Any) -> Any:
        changes = {"kernel": {"kind": "reversible_jump", "jumps": 2, **settings}}
        study = make_study({"methods": {"other": preset("reversible_jump", **changes)}})
        return chains_of(study, "other").kernel

    assert "max_depth" not in kernel().model_dump()
    of_trees = kernel(max_depth=5)
    assert of_trees.within == NUTSKernel(kind="nuts", max_depth=5)
    assert of_trees.max_tree_depth == 5
    assert of_trees.gradients_per_draw == 2**5 + 2 * 4
    with refused("study.divergence_of_trees"):
        kernel(max_depth=5, divergence_threshold=50)


def test_a_ladder_that_is_not_given_is_geometric() -> None:
    made = chains_of(make_study({"methods": {"other": preset("tempering")}}), "other")
    settings = made.kernel.model_dump()
    assert settings["inverse_temperatures"] is None
    assert made.kernel.replicas == settings["num_temperatures"] == 16


def test_keys_of_the_release_before_are_read_with_a_warning() -> None:
    kernel = {"kind": "tempering", "rungs": 8, "hottest": 0.01}
    old = preset("tempering", kernel=kernel, keep_every=4)
    with pytest.warns(FutureWarning, match="key '.*' is now '.*'; the next release refuses"):
        read = chains_of(make_study({"methods": {"old": old}}), "old")
    assert read.thin == 4
    assert read.kernel == TemperingKernel(
        kind="tempering", num_temperatures=8, min_inverse_temperature=0.01
    )


@pytest.mark.parametrize("segments", [3, 7, 401])
def test_pieces_of_a_warmup_are_whole(segments: int) -> None:
    with refused("study.uneven_segments", places=["methods.hmc.warmup.windows"]):
        sampler(warmup={"segments": segments})
    with invalid("study.uneven_segments", steps=400, segments=segments):
        WindowWarmup(segments=segments)


@pytest.mark.parametrize("mass_matrix", ["diagonal", "dense", "low_rank"])
@pytest.mark.parametrize("too_few", [{"steps": 19}, {"steps": 100, "adaptation_share": 0.19}])
def test_a_mass_matrix_needs_steps_to_be_learned(mass_matrix: str, too_few: dict[str, Any]) -> None:
    with refused("study.no_window", places=["methods.hmc.warmup.windows"]):
        sampler(warmup={"mass_matrix": mass_matrix, **too_few})
    with invalid("study.no_window", steps=19, mass_matrix=mass_matrix):
        WindowWarmup.model_validate({"mass_matrix": mass_matrix, **too_few})
    enough = {"steps": 20} if len(too_few) == 1 else {"steps": 100, "adaptation_share": 0.2}
    found = sampler(warmup={"mass_matrix": mass_matrix, **enough})
    assert found.warmup.adapting == FEWEST_ADAPTING_STEPS


def test_a_random_walk_has_no_gradients_for_a_low_rank_mass_matrix() -> None:
    def walk(mass_matrix: str) -> None:
        kernel, warmup = {"kind": "random_walk"}, {"mass_matrix": mass_matrix}
        make_study({"methods": {"walk": preset("random_walk", kernel=kernel, warmup=warmup)}})

    walk("dense")
    place = "methods.walk.warmup.mass_matrix"
    with refused("study.low_rank_without_gradients", places=[place]):
        walk("low_rank")


def test_until_has_the_limits_of_agreement_of_the_verdict() -> None:
    """Those of Vehtari et al. (2021)."""
    until = sampler(until={}).until
    assert until == Agreement(rhat_max=1.01, ess_min=400)
    assert until.model_dump().items() <= Thresholds().model_dump().items()


@pytest.mark.parametrize(
    ("old", "new"),
    [("rhat_f_median", "rhat_max"), ("rhat_f_p99", "rhat_max"), ("ess_f_bulk_min", "ess_min")],
)
def test_limits_of_the_last_release_name_those_that_replace_them(old: str, new: str) -> None:
    with refused("study.removed_limit", places=["methods.hmc.until"]) as caught:
        sampler(until={old: 1.05})
    assert f"{old} is no limit any more; {new} is" in str(caught.value)
