"""What users give, looked at when it is wanted: a source is there and fits its dataset."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from nlobayes.errors import InputError
from nlobayes.study.assignments import check_memory, prepare_job
from nlobayes.study.jobs import PrepareJob
from nlobayes.study.sources import SlhaSource, TableSource
from nlobayes.workflow.inputs import Wildcards
from nlobayes.workflow.plan import Plan, dataset_path
from nlobayes.workflow.process import stop

Preview = Callable[[PrepareJob, Path], object]
"""Reads the first rows of a table, and refuses one that its dataset cannot be made of."""


class Sources:
    """The sources of a plan; nothing is planned with one that is missing or does not fit."""

    def __init__(self, plan: Plan, preview: Preview, is_planning: bool) -> None:
        """Take what previews a table, and whether this process plans or runs one job."""
        self._plan, self._preview, self._is_planning = plan, preview, is_planning
        self._check_table = cache(self._look_at_table)
        self._digest = cache(self._digest_once)

    def table(self, wildcards: Wildcards) -> str:
        """Find the table of a dataset: made here or given by the user."""
        source = self._plan.study.datasets[wildcards.dataset].source
        if not isinstance(source, TableSource):
            return f"results/tables/{wildcards.dataset}.parquet"
        if self._is_planning:
            self._check_table(wildcards.dataset)
        return source.path

    def digest_of_table(self, wildcards: Wildcards) -> str:
        """Digest a table of the user, for a date does not show that its content is another."""
        source = self._plan.study.datasets[wildcards.dataset].source
        return self.digest_of_files(wildcards) if isinstance(source, TableSource) else ""

    def folder(self, wildcards: Wildcards) -> str:
        """Find the folder of the SLHA files of a dataset; nothing is planned without files."""
        source = self._plan.study.datasets[wildcards.dataset].source
        assert isinstance(source, SlhaSource)
        if self._is_planning and not source.files(Path(source.folder)):
            stop(
                f"datasets.{wildcards.dataset}.source.folder: no file of {source.folder} matches "
                f"{source.pattern!r}; put the files there, or mend the path"
            )
        return source.folder

    def digest_of_files(self, wildcards: Wildcards) -> str:
        """Digest what a user gives: a folder does not show what changes inside it."""
        return self._digest(wildcards.dataset)

    def dataset_of_model(self, wildcards: Wildcards) -> str:
        """Find the dataset of a model; nothing is planned without the memory of its prior."""
        run = self._plan.models[wildcards.model]
        try:
            check_memory(run)
        except InputError as error:
            stop(error)
        return dataset_path(run)

    def _digest_once(self, name: str) -> str:
        source = self._plan.study.datasets[name].source
        assert isinstance(source, TableSource | SlhaSource)
        return source.digest()

    def _look_at_table(self, name: str) -> None:
        dataset = self._plan.study.datasets[name]
        assert isinstance(dataset.source, TableSource)
        path = Path(dataset.source.path)
        if not path.exists():
            stop(
                f"datasets.{name}.source.path: {path} is not there; put it there, or mend the path"
            )
        try:
            self._preview(prepare_job(dataset), path)
        except InputError as error:
            stop(f"datasets.{name}: {error}")
