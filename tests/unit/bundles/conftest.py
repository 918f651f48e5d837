"""A bundle of two pairs at two energies, from surrogates of the sixty rows."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nlobayes.commands.tools.bundle import bundle
from nlobayes.types import Dataset, SurrogateContent
from tests.unit.spectra_with_surrogates import STATED, write

STATES = {
    "chi1_chi1": {},
    "chi1_chi2": {"outgoing": "1000023 1000022", "process": "p p -> chi0_2 chi0_1"},
    "at_13_6": {"sqrt_s_tev": "13.6"},
}


@pytest.fixture(scope="session")
def files(
    make_surrogate: Callable[..., SurrogateContent],
    dataset: Dataset,
    tmp_path_factory: pytest.TempPathFactory,
) -> list[Path]:
    """Surrogates with different numbers of draws: 40, 50 and 60."""
    folder = tmp_path_factory.mktemp("surrogates")
    return [
        write(
            folder / f"{name}.nc", make_surrogate(dataset, draws=40 + 10 * n), dataset, STATED | of
        )
        for n, (name, of) in enumerate(STATES.items())
    ]


@pytest.fixture(scope="session")
def folder(files: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("bundles") / "small"
    bundle(files, made)
    return made
