"""Settings of NUTS as run by PyMC: what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nlobayes.study.grid import Study
from tests.refusals import refused

MakeStudy = Callable[..., Study]


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"nuts_sampler": "blackjax"}, "study.blackjax_by_pymc"),
        ({"nuts_sampler": "stan"}, "literal_error"),
        ({"chains": 1}, "study.one_chain"),
        ({"draws": 7}, "greater_than_equal"),
        ({"target_accept": 1.0}, "less_than"),
        ({"kernel": {"kind": "nuts"}}, "study.unknown_key"),
    ],
)
def test_settings_that_pymc_cannot_take_are_refused(
    make_study: MakeStudy, settings: dict[str, Any], code: str
) -> None:
    with refused(code):
        make_study({"methods": {"yardstick": {"kind": "pymc", **settings}}})
