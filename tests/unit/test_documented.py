"""Documented commands can be called: options, targets, presets, modules and paths are there.

What Snakemake makes of the studies is tested in `tests/workflow/test_documented.py`.
"""

import re
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import dvc.cli  # type: ignore[import-untyped]
import pytest
import typer
import yaml
from dvc.cli.parser import get_main_parser  # type: ignore[import-untyped]

from nlobayes.cli import app
from nlobayes.errors import InputError
from nlobayes.stages import AUDIT, TOOLS
from nlobayes.study.study import Study, load_study, override, read_presets
from tests.documented import PROGRAMS, ROOT, Command, block_of, commands, commands_of

OTHERS = {"curl", "dd", "git", "jq", "jupytext", "pre-commit", "printf", "source", "uvx", "zcat"}
"""Programs of others, whose commands are not looked into."""
PLACEHOLDER = re.compile(r"[A-Z_]+(\.\w+)?|.*(\{\w+\}|/[A-Z]+\b).*")
"""Words that a reader replaces: `FILE`, `results/figures/RUN`, `{run}`."""
USAGE_ERROR: Any = typer.BadParameter.__bases__[0]
"""What the parser of a verb raises, which Typer does not name."""


Fault = str | None


def fault_of_make(command: Command) -> Fault:
    targets = [word for word in command.words[1:] if not re.match(r"-|\w+=", word)]
    fault = fault_of_extras(command)
    if fault is not None:
        return fault
    makefile = (ROOT / "Makefile").read_text()
    missing = [name for name in targets if not re.search(rf"^{name}: ", makefile, re.MULTILINE)]
    return f"Makefile has no target {missing}" if missing else None


def fault_of_nlobayes(command: Command) -> Fault:
    """Parse a command; a mention may be of the verb alone."""
    verb, *words = command.words[1:]
    if verb == "--version":
        return None
    group = typer.main.get_command(app)
    parser: Any = group.get_command(None, verb)  # type: ignore[attr-defined]
    if parser is None:
        return f"there is no verb {verb!r}"
    if not words and not command.whole:
        return None
    try:
        parser.make_context(verb, words)
    except USAGE_ERROR as error:
        return str(error.format_message())
    return None


def fault_of_snakemake(command: Command) -> Fault:
    """Parse a command, validate its study, and look for its targets there."""
    from snakemake import cli as snakemake_cli

    try:
        given = snakemake_cli.get_argument_parser().parse_args([*command.words[1:]])
        study = study_of(command, given)
    except (SystemExit, InputError, FileNotFoundError) as error:
        return None if "--help" in command.words else str(error)
    known = {*study.grids, "all"}
    unknown = [name for name in given.targets if name not in known and not is_path(name)]
    if unknown:
        return f"{unknown} are no grids"
    asked = given.profile or ()
    profiles = [name for name in asked if not (ROOT / name / "config.yaml").exists()]
    return f"{profiles} are no profiles" if profiles else None


def is_path(word: str) -> bool:
    return "/" in word or PLACEHOLDER.fullmatch(word) is not None


def study_of(command: Command, given: Any) -> Study:
    """Validate the study that the files and settings of a command make."""
    from snakemake.cli import parse_config

    changes = parse_config(given.config)
    for file in given.configfile or ():
        changes = override(content_of(command, str(file)), changes)
    return load_study(override(default_study(), changes))


@cache
def default_study() -> dict[str, Any]:
    default = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    return override(read_presets(ROOT / "config/presets"), default)


def content_of(command: Command, file: str) -> dict[str, Any]:
    """Read a study: a block of the page that it names, or a file; `theirs.yaml` may be any."""
    if file in ("my.yaml", "theirs.yaml"):
        page = command.place.split(":")[0]
        return dict(yaml.safe_load(block_of(page, file) or "{}"))
    block = block_of("CONTRIBUTING.md", file)
    return dict(yaml.safe_load(block or (ROOT / file).read_text()))


def fault_of_dvc(command: Command) -> Fault:
    """Parse a command; of a mention, ask for the help."""
    words = [*command.words[1:], *([] if command.whole else ["--help"])]
    try:
        get_main_parser().parse_args(words)
    except dvc.cli.DvcParserError as error:
        return str(error)
    except SystemExit:  # its help was printed
        pass
    return None


def fault_of_pytest(command: Command) -> Fault:
    paths = [word for word in command.words[1:] if "/" in word and not is_placeholder(word)]
    missing = [path for path in paths if not (ROOT / path).exists()]
    return f"{missing} are not there" if missing else None


def is_placeholder(word: str) -> bool:
    return PLACEHOLDER.fullmatch(word) is not None


def fault_of_extras(command: Command) -> Fault:
    """Look for the extras that are asked of uv or pip."""
    said = " ".join(command.words)
    asked = {*re.findall(r"--extra (\w+)", said), *re.findall(r"nlobayes\[(\w+)\]", said)}
    asked |= {*" ".join(re.findall(r"\bEXTRAS=([a-z0-9 ]+)", said)).split()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    unknown = asked - {*project["optional-dependencies"]}
    return f"there are no extras {sorted(unknown)}" if unknown else None


def fault_of_python(command: Command) -> Fault:
    """Look for a module or file; what they are told is looked at for all of them at once."""
    named = module_of(command)
    missing = named is None or not any(place.exists() for place in places_of(named))
    return "there is no such module" if missing else None


def module_of(command: Command) -> str | None:
    match command.words[1:]:
        case ("-m", name, *_):
            return name
        case (path, *_) if path.endswith(".py"):
            return path.removesuffix(".py").replace("/", ".")
    return None


def places_of(module: str) -> list[Path]:
    path = module.replace(".", "/")
    roots = (ROOT, ROOT / "src")
    return [root / f"{path}{end}" for root in roots for end in (".py", "/__main__.py")]


FAULTS: dict[str, Callable[[Command], Fault]] = {
    "snakemake": fault_of_snakemake,
    "nlobayes": fault_of_nlobayes,
    "make": fault_of_make,
    "python": fault_of_python,
    "pytest": fault_of_pytest,
    "uv": fault_of_extras,
    "pip": fault_of_extras,
    "dvc": fault_of_dvc,
}


def test_every_program_is_known() -> None:
    """Else: mend the line, put `$ ` before commands that stand among output, or name it here."""
    assert {*FAULTS} == {*PROGRAMS}
    known = {*FAULTS} | OTHERS
    unknown = [str(command) for command in commands() if command.words[0] not in known]
    assert unknown == [], "not known to tests/unit/test_documented.py (OTHERS)"


@pytest.mark.parametrize("program", PROGRAMS)
def test_documented_commands_can_be_called(
    program: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    asked = [command for command in commands() if command.words[0] == program]
    found = [(command, FAULTS[program](command)) for command in asked]
    capsys.readouterr()
    assert [f"{command}: {fault}" for command, fault in found if fault is not None] == []


@pytest.mark.parametrize(
    ("page", "text", "fault"),
    [
        (
            "a.md",
            "```\nsnakemake --configfile config/studies/width.yaml width_paper\n```",
            "width_p",
        ),
        ("a.md", "```\nsnakemake width_papers\n```", "no grids"),
        ("a.md", "```\nsnakemake --config 'chain=4'\n```", "chain"),
        ("a.yaml", "# Run it:\n#   snakemake --profile profiles/slrum", "no profiles"),
        ("a.md", "Call `nlobayes condens FILE`.", "no verb"),
        ("a.md", "```sh\nnlobayes condense a.nc \\\n  --out b.nc\n```", "--dataset"),
        ("a.py", '"""A page.\n\n    uv run nlobayes predict a b --skip-worst\n"""', "--skip-worst"),
        ("a.md", "    python -m benchmarks.widths", "no such module"),
        ("a.md", "and `make tests WORKERS=8`", "no target"),
        ("a.md", "`uv sync --extra gpu`", "no extras"),
        ("a.md", "`make setup EXTRAS=gpu`", "no extras"),
        ("a.md", "```\ndvc checkout --hard results\n```", "parser error"),
        ("a.md", "```\n$ pytest tests/test_nothing.py\nno output\n```", "not there"),
    ],
)
def test_a_command_that_fails_is_found(
    page: str, text: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    (command,) = commands_of(page, text)
    assert fault in str(FAULTS[command.words[0]](command))


def test_the_examples_of_the_help_can_be_called() -> None:
    for name, command in {**TOOLS, **AUDIT}.items():
        words = command.example.split()
        assert words[:2] == ["nlobayes", name]
        assert fault_of_nlobayes(Command("help", tuple(words), whole=True)) is None, name
