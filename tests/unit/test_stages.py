"""The one list of stages agrees with commands, rules, specifications and the documentation."""

import re
from pathlib import Path
from typing import get_type_hints

from nlobayes.stages import GROUPS, PIPELINE, function_of
from nlobayes.study.jobs import DrawJob
from nlobayes.study.jobs_of_runs import ReweightJob
from nlobayes.study.read_jobs import SPECIFICATIONS
from nlobayes.workflow.stage_table import as_markdown

ROOT = Path(__file__).parents[2]
RULES = "".join(path.read_text() for path in sorted((ROOT / "workflow/rules").glob("*.smk")))
RULE = re.compile(r"^(?:rule|checkpoint) (\w+):\n((?:(?: .*)?\n)+)", re.MULTILINE)


def test_every_stage_is_a_rule_that_calls_the_command_of_its_name() -> None:
    rules = dict(RULE.findall(RULES))
    assert rules.keys() == PIPELINE.keys()
    for name, body in rules.items():
        assert re.findall(r'^ +"nlobayes (\w+) ', body, re.MULTILINE) == [name]


def test_every_stage_that_is_estimated_asks_for_what_it_needs() -> None:
    rules = dict(RULE.findall(RULES))
    for name, stage in PIPELINE.items():
        asked = re.findall(r'\*\*needs\.of\("(\w+)"\)', rules[name])
        assert asked == ([name] if stage.base_mb is not None else []), name


def test_every_specification_is_a_model_and_every_model_is_named_by_its_stage() -> None:
    assert SPECIFICATIONS["assemble"] is DrawJob
    assert SPECIFICATIONS["reweight"] is ReweightJob
    assert SPECIFICATIONS["agree"] is None
    assert {*PIPELINE} - {*SPECIFICATIONS} == {"speed"}  # its timings are no results
    for name, model in SPECIFICATIONS.items():
        command = next(commands[name] for commands in GROUPS.values() if name in commands)
        assert command.job == (model and model.__name__)


STATED_BY_THE_POSTERIOR = {"assemble", "thin"}
"""Stages without a specification of their own: they pass on that of the draws."""


def test_a_stage_states_what_its_function_does_not_tell_and_names_the_same_specification() -> None:
    for name, stage in PIPELINE.items():
        compute = vars(function_of(name)).get("compute")
        assert (stage.inputs is None) is (compute is not None), name
        if compute and name not in STATED_BY_THE_POSTERIOR:
            job = get_type_hints(compute).get("job")
            assert stage.job == (job and job.__name__), name


def test_the_table_in_the_documentation_is_that_of_the_stages() -> None:
    """`make schema` writes it."""
    assert (ROOT / "docs/stages.md").read_text() == as_markdown()
