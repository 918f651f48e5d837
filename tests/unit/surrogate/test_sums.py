"""The error of a sum of cross sections, compared with exact moments and with a convolution."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from nlobayes.surrogate.cross_section import (
    DRAWS,
    CrossSection,
    Part,
    _errors,
    cross_section,
    errors_at,
    sum_of_draws,
    total,
)
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.types import Dataset, SurrogateContent
from tests.unit.spectra_with_surrogates import STATED, added, write

NODES = 1500


@pytest.fixture(scope="module")
def parts(
    make_surrogate: Callable[..., SurrogateContent],
    dataset: Dataset,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Surrogate]:
    """Surrogates of networks with different widths and different numbers of draws."""
    folder = tmp_path_factory.mktemp("parts")
    return {
        str(hidden): Surrogate.load(
            write(folder / f"{hidden}.nc", make_surrogate(dataset, hidden, draws), dataset, STATED)
        )
        for hidden, draws in ((12, 40), (8, 70))
    }


@pytest.fixture(scope="module")
def spectrum(parts: dict[str, Surrogate]) -> dict[str, float]:
    return {**next(iter(parts.values())).typical, "msq": 3000.0}


def points(surrogate: Surrogate, spectrum: dict[str, float]) -> list[list[float]]:
    return [[spectrum[name] for name in surrogate.inputs]]


def test_its_moments_are_those_of_independent_parts(
    parts: dict[str, Surrogate], spectrum: dict[str, float]
) -> None:
    """Means and variances add; both have a closed form for each part."""
    found = [one.predict(points(one, spectrum)) for one in parts.values()]
    mean = sum(float(one.mean[0]) for one in found)
    sd = math.sqrt(sum(float(one.total_sd[0]) ** 2 for one in found))
    drawn = sum_of_draws([(one, spectrum) for one in parts.values()])
    assert drawn.shape == (DRAWS,)
    assert drawn.mean() == pytest.approx(mean, abs=5 * sd / math.sqrt(DRAWS))
    assert drawn.std() == pytest.approx(sd, rel=0.03)


def test_its_quantiles_are_those_of_a_convolution(
    parts: dict[str, Surrogate], spectrum: dict[str, float]
) -> None:
    levels = (np.arange(NODES) + 0.5) / NODES
    each = [
        one.quantiles(points(one, spectrum), levels.tolist())[one.target][:, 0]
        for one in parts.values()
    ]
    low, median, high = np.quantile(np.add.outer(*each).ravel(), (0.16, 0.5, 0.84))
    found, tolerance = added(parts, spectrum), 0.05 * (high - low) / 2
    assert [found.low, found.median, found.high] == pytest.approx(
        [low, median, high], abs=tolerance
    )
    assert found.errors["regression_up"] == pytest.approx(found.high / found.median - 1)
    assert found.errors["total_down"] == pytest.approx(found.low / found.median - 1)


def test_draws_of_two_networks_are_paired_independently(
    parts: dict[str, Surrogate], spectrum: dict[str, float]
) -> None:
    """This holds even for two equal sets of draws: paired in order, their sd would double."""
    one = parts["12"]
    sd = float(one.predict(points(one, spectrum)).total_sd[0])
    assert sum_of_draws([(one, spectrum)] * 2).std() == pytest.approx(math.sqrt(2) * sd, rel=0.03)


def test_its_unit_is_pb(
    make_surrogate: Callable[..., SurrogateContent],
    dataset: Dataset,
    parts: dict[str, Surrogate],
    spectrum: dict[str, float],
    tmp_path: Path,
) -> None:
    """If one part is in fb, the same numbers contribute a thousandth."""
    exported = make_surrogate(dataset, 8, 70)
    units = {**exported.facts["units"], "sigma_pb": "fb"}
    changed = exported._replace(facts={**exported.facts, "units": units})
    in_fb = Surrogate.load(write(tmp_path / "fb.nc", changed, dataset, STATED))
    found = added({"12": parts["12"], "8": in_fb}, spectrum)
    known, point = np.array([2.0]), np.array(points(in_fb, spectrum))
    errors, half_widths = errors_at(in_fb, point, 1000 * known)
    error, half_width = errors_at(parts["8"], point, known)
    assert half_widths == pytest.approx(half_width / 1000)
    assert errors == pytest.approx(known - (known - error) / 1000)
    medians = [cross_section(parts[name], spectrum).median for name in ("12", "8")]
    assert found.median == pytest.approx(medians[0] + medians[1] / 1000, rel=0.01)


def test_the_domain_is_the_worst(
    parts: dict[str, Surrogate], spectrum: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (added(parts, spectrum).domain, added(parts, spectrum).reason) == ("inside", "")
    flags = {parts["12"]: "inside", parts["8"]: "near edge"}
    monkeypatch.setattr(Surrogate, "standing", lambda self, *_: ([flags[self]], [""]))
    found = added(parts, spectrum)
    assert (found.domain, found.reason) == ("near edge", "8: near edge")
    flags[parts["12"]] = "outside"
    found = added(parts, spectrum)
    assert (found.domain, found.reason) == ("outside", "12: outside; 8: near edge")


def test_a_part_without_a_number_leaves_no_sum(
    parts: dict[str, Surrogate], spectrum: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = {name: np.full((3, 1), math.nan) for name in ("sigma_pb",)}
    whole = Surrogate.for_errors
    monkeypatch.setattr(
        Surrogate,
        "for_errors",
        lambda self, *given: nothing if self is parts["8"] else whole(self, *given),
    )
    found = added(parts, spectrum)
    assert math.isnan(found.median)
    assert math.isnan(found.low)
    assert all(map(math.isnan, found.errors.values()))
    assert found.domain == "outside"


def part(median: float, **errors: float) -> CrossSection:
    return CrossSection(median, median, median, "inside", "", errors)


def test_theory_errors_are_those_of_moving_all_scales_at_once() -> None:
    """2 pb at 1.1 and 0.95, 3 pb at 1.2 and 0.9: the sum is 5.8 and 4.6 of 5."""
    one = part(2.0, scale_down=-0.05, scale_up=0.1, pdf_down=-0.04, pdf_up=0.04)
    two = part(3.0, scale_down=-0.1, scale_up=0.2)
    found = _errors([one, two], (5.0, 4.9, 5.2))
    assert found["scale_up"] == pytest.approx(5.8 / 5 - 1)
    assert found["scale_down"] == pytest.approx(4.6 / 5 - 1)
    assert not [name for name in found if name.startswith("pdf")], "one part does not know it"
    assert found["total_up"] == pytest.approx(math.hypot(0.04, 0.16))
    assert found["total_down"] == pytest.approx(-math.hypot(0.02, 0.08))


def test_an_error_of_parton_distributions_is_no_less_than_that_of_their_members() -> None:
    """For a Hessian set, the length of the sum over members is at most the sum of the lengths."""
    members = np.random.default_rng(3).normal(0, 0.02, (2, 28))
    sigma = np.array([2.0, 3.0])
    lengths = np.linalg.norm(members, axis=1)
    parts = [
        part(s, pdf_down=-e, pdf_up=e)
        for s, e in zip(sigma.tolist(), lengths.tolist(), strict=True)
    ]
    exact = np.linalg.norm(sigma @ members) / 5
    assert exact < _errors(parts, (5.0, 4.9, 5.1))["pdf_up"] < 2 * exact


def test_parts_of_unlike_theory_errors_share_a_combined_one() -> None:
    """Each part in quadrature, then linearly; none without any of a part."""

    def part(median: float, **errors: float) -> Part:
        both = {f"{n}_{side}": sign * e for n, e in errors.items() for side, sign in SIGNS.items()}
        return Part(None, {}, CrossSection(median, median, median, "inside", "", both))

    one, other = part(3.0, scale=0.03, pdf=0.04), part(1.0, combined=0.1)
    errors = total({"a": one, "b": other}).errors
    assert errors["combined_up"] == pytest.approx((3 * 0.05 + 0.1) / 4)
    assert errors["total_down"] == pytest.approx(-(3 * 0.05 + 0.1) / 4)
    assert "scale_up" not in errors
    assert total({"a": one, "b": one}).errors["pdf_up"] == pytest.approx(0.04)
    assert "combined_up" not in total({"a": one, "c": part(1.0)}).errors


SIGNS = {"down": -1.0, "up": 1.0}
