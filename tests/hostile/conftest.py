"""Fixtures of the workflow that tries of strangers begin from."""

from tests.workflow.conftest import once, pristine, tiny, unbuilt  # noqa: F401
