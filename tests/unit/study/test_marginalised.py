"""An output layer that cannot be integrated out is refused when the study is read."""

from typing import Any

import pytest

from nlobayes.study.network_checks import marginal_numbers
from nlobayes.study.resources import need, size_of
from nlobayes.study.study import override
from tests.refusals import refused
from tests.unit.study.small import make_study

WIDE: dict[str, Any] = {
    "networks": {"n4": {"output": "marginalised"}},
    "grids": {"small": {"network": "n4"}},
    "pretraining": {"adam": {"batch": "full"}},
    "precision": "float64",
}
REFUSED: dict[str, dict[str, Any]] = {
    "marginalised_noise": {"likelihoods": {"tight": {"kind": "laplace"}}},
    "marginalised_targets": {"datasets": {"made": {"target": {"column": ["sigma_pb", "lo_pb"]}}}},
    "marginalised_linear": {"networks": {"n4": {"hidden": []}}},
    "marginalised_prior": {"priors": {"fan_in": {"kind": "laplace"}}},
    "marginalised_earlier": {"priors": {"fan_in": {"earlier": {"file": "earlier.nc"}}}},
    "marginalised_batches": {"pretraining": {"adam": {"batch": 10}}},
    "marginalised_precision": {"precision": "float32"},
    "marginalised_shards": {"execution": {"shards": 2}},
    "sum_over_rows": {
        "methods": {"swag": {"kind": "swag"}},
        "grids": {"small": {"method": "swag"}},
    },
    "marginalised_linearised": {
        "methods": {"tangent": {"kind": "laplace", "predictive": "linearised"}},
        "grids": {"small": {"method": "tangent"}},
    },
    "marginalised_units": {
        "networks": {"n4": {"hidden": [10000]}},
        "datasets": {
            "made": {
                "source": {"points": 20000},
                "split": {"train": 10000, "validation": 15, "test": 15},
            }
        },
    },
}


def test_is_planned_and_requests_memory() -> None:
    run, plain = (
        next(iter(make_study(override(WIDE, changes)).runs("small")))
        for changes in (
            {"networks": {"n4": {"hidden": [1000]}}},
            {"networks": {"n4": {"hidden": [1000], "output": "sampled"}}},
        )
    )
    wide, narrow = (size_of(one, 4000) for one in (run, plain))
    assert wide.marginal == marginal_numbers(1000, wide.train)
    assert narrow.marginal == 0
    assert wide.draw_seconds > narrow.draw_seconds
    assert need("draw", wide).mem_mb >= need("draw", narrow).mem_mb


@pytest.mark.parametrize(("code", "changes"), REFUSED.items(), ids=REFUSED)
def test_what_cannot_be_integrated_out_is_refused(code: str, changes: dict[str, Any]) -> None:
    with refused(f"study.{code}") as caught:
        make_study(override(WIDE, changes))
    assert "output: marginalised" in str(caught.value)
    assert "\n" not in str(caught.value)


OUTPUT_ALONE: dict[str, Any] = {
    "methods": {"last": {"kind": "last_layer"}},
    "grids": {"small": {"network": "n4", "method": "last"}},
    "precision": "float64",
}


def test_a_method_may_draw_the_output_layer_of_a_network_that_is_pretrained_in_minibatches() -> (
    None
):
    run = next(iter(make_study(OUTPUT_ALONE).runs("small")))
    assert (run.network.output, run.pretraining.batch) == ("sampled", 100)
    assert size_of(run, 60).marginal == marginal_numbers(4, 30)


@pytest.mark.parametrize(
    ("changes", "missing"),
    [
        ({"precision": "float32"}, ["precision: float64"]),
        (
            {
                "likelihoods": {"tight": {"kind": "laplace"}},
                "priors": {"fan_in": {"kind": "laplace"}},
            },
            ["a gaussian likelihood", "a prior whose output layer is Gaussian given its scales"],
        ),
        ({"networks": {"n4": {"hidden": []}}}, ["a hidden layer"]),
    ],
)
def test_the_error_names_what_drawing_the_output_layer_needs(
    changes: dict[str, Any], missing: list[str]
) -> None:
    message = (
        f"method 'last' draws the output layer exactly, which needs {', '.join(missing)}; choose"
    )
    with refused("study.draws_output") as caught:
        make_study({**OUTPUT_ALONE, **changes})
    assert message in str(caught.value)
