# What users give, looked at when it is planned: a source that is wanted is there and fits its dataset.

from functools import lru_cache
from pathlib import Path

from nlobayes.errors import InputError
from nlobayes.study.assignments import check_memory, prepare_job
from nlobayes.study.sources import TableSource


def table_of(wildcards):
    """Find the table of a dataset: made here or given by the user."""
    source = STUDY.datasets[wildcards.dataset].source
    if not isinstance(source, TableSource):
        return f"results/tables/{wildcards.dataset}.parquet"
    if workflow.is_main_process:
        check_table(wildcards.dataset)
    return source.path


@lru_cache
def check_table(name):
    """Plan nothing without a table, or with one that its dataset cannot be made of."""
    dataset = STUDY.datasets[name]
    path = Path(dataset.source.path)
    if not path.exists():
        stop(
            f"datasets.{name}.source.path: {path} is not there; put it there, or mend the path"
        )
    from nlobayes.commands.shared.requests import (
        preview,
    )  # only a study with a table pays for the readers

    try:
        preview(prepare_job(dataset), path)
    except InputError as error:
        stop(f"datasets.{name}: {error}")


def digest_of_table(wildcards):
    """Digest a table of the user, for a date does not show that its content is another."""
    name = wildcards.dataset
    given = isinstance(STUDY.datasets[name].source, TableSource)
    return digest_of(name) if given else ""


def folder_of_files(wildcards):
    """Find the folder of the SLHA files of a dataset; nothing is planned without files."""
    source = STUDY.datasets[wildcards.dataset].source
    if workflow.is_main_process and not source.files(Path(source.folder)):
        stop(
            f"datasets.{wildcards.dataset}.source.folder: no file of {source.folder} matches "
            f"{source.pattern!r}; put the files there, or mend the path"
        )
    return source.folder


def digest_of_files(wildcards):
    """Digest the SLHA files of a dataset, for a folder does not show what changes inside them."""
    return digest_of(wildcards.dataset)


@lru_cache
def digest_of(name):
    """Digest what a user gives for a dataset, once for all that ask."""
    return STUDY.datasets[name].source.digest()


def dataset_of_model(wildcards):
    """Find the dataset of a model; nothing is planned without the memory that its prior names."""
    run = MODELS[wildcards.model]
    try:
        check_memory(run)
    except InputError as error:
        stop(error)
    return dataset_path(run)
