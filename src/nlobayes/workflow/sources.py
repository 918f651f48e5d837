"""Sources of datasets: files of users must exist and fit their dataset when they are needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NoReturn

from nlobayes.errors import InputError
from nlobayes.study.job_builder import check_earlier, prepare_job
from nlobayes.study.jobs import PrepareJob
from nlobayes.study.sources import SourceSettings
from nlobayes.study.sources.program import ProgramSource
from nlobayes.workflow.inputs import Wildcards
from nlobayes.workflow.plan import Plan, dataset_path
from nlobayes.workflow.planning import stop

Preview = Callable[[PrepareJob, Path], object]
"""Function that reads the first rows of a table and refuses one that does not fit its dataset."""

Refuse = Callable[[object], NoReturn]
"""Function that ends the planning with an error."""


class Sources:
    """The sources of a plan; planning stops if one is missing or does not fit."""

    def __init__(
        self, plan: Plan, preview: Preview, is_planning: bool, refuse: Refuse = stop
    ) -> None:
        """Store the plan, the preview, whether this process plans, and what ends it."""
        self._plan, self._preview, self._is_planning = plan, preview, is_planning
        self._refuse = refuse
        self._check_table = cache(self._look_at_table)
        self._digest = cache(self._digest_once)

    def table(self, wildcards: Wildcards) -> str:
        """Return the table of a dataset: written by the workflow or given by the user."""
        source = self._source(wildcards.dataset)
        if source.made_by is not None:
            return f"results/tables/{wildcards.dataset}.parquet"
        if self._is_planning:
            self._check_table(wildcards.dataset)
        return _given(source)

    def table_of_points(self, wildcards: Wildcards) -> list[str]:
        """List the user's table from which a design takes its points; empty if it has none."""
        given = self._source(wildcards.dataset).given
        return [] if given is None else [given]

    def points_at_once(self, wildcards: Wildcards) -> int:
        """Return how many points of a program one job computes at a time."""
        source = self._source(wildcards.dataset)
        assert isinstance(source, ProgramSource), source.kind
        return source.demands.at_once

    def digest_of_table(self, wildcards: Wildcards) -> str:
        """Return the digest of a user's table, whose content may change without its date."""
        made = self._source(wildcards.dataset).made_by is not None
        return "" if made else self.digest_of_files(wildcards)

    def folder(self, wildcards: Wildcards) -> str:
        """Return the folder of the files of a dataset; planning stops if it has none."""
        if self._is_planning:
            self._check_given(wildcards.dataset)
        return _given(self._source(wildcards.dataset))

    def digest_of_files(self, wildcards: Wildcards) -> str:
        """Return the digest of the user's files, as the date of a folder hides changes inside."""
        return self._digest(wildcards.dataset)

    def dataset_of_model(self, wildcards: Wildcards) -> str:
        """Return the dataset of a model; planning stops if its earlier data are missing."""
        run = self._plan.models[wildcards.model]
        try:
            check_earlier(run)
        except InputError as error:
            self._refuse(error)
        return dataset_path(run)

    def _source(self, name: str) -> SourceSettings:
        return self._plan.study.datasets[name].source

    def _digest_once(self, name: str) -> str:
        return self._source(name).digest()

    def _check_given(self, name: str) -> None:
        try:
            self._source(name).check_given()
        except InputError as error:
            self._refuse(f"datasets.{name}.source.{error}")

    def _look_at_table(self, name: str) -> None:
        self._check_given(name)
        dataset = self._plan.study.datasets[name]
        try:
            self._preview(prepare_job(dataset), Path(_given(dataset.source)))
        except InputError as error:
            self._refuse(error.within(f"datasets.{name}"))


def _given(source: SourceSettings) -> str:
    assert source.given is not None, source.kind
    return source.given
