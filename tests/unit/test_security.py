"""Nothing of ours runs what it reads or calls out, and the lock knows all that is installed."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RULES = sorted((ROOT / "workflow/rules").glob("*.smk"))
RUN_WHAT_THEY_READ = {"cloudpickle", "dill", "joblib", "marshal", "pickle", "runpy", "shelve"}
STARTING_WORKERS = {
    "joblib": {"Parallel", "delayed", "effective_n_jobs"},
    "joblib.externals.loky": {"process_executor"},
}
"""What may be imported by name from modules that could otherwise run what they read."""
CALL_OUT = {"ftplib", "http", "requests", "smtplib", "socket", "urllib"}
CALLS = {
    "eval",
    "exec",
    "full_load",
    "getoutput",
    "popen",
    "read_pickle",
    "system",
    "to_pickle",
    "unsafe_load",
    "yaml.load",
    "yaml.load_all",
}
ARGUMENTS = {"allow_pickle", "shell"}
DIRECTIVE = re.compile(
    r"^(include|configfile|report): .*$|^wildcard_constraints:\n(    .*\n)+", re.M
)
FIRST_RULE = re.compile(r"^(rule|checkpoint|use rule) .*:$|^for .*:$", re.M)
NUMBERS = {"wildcards.chain_group", "wildcards.chain", "wildcards.chunk", "threads"}
SPELT_TO_PLOT = {"params.names"}
"""By `Options.to_plot`, whose own test sees that it quotes."""
QUOTING = re.compile(r"option_per_input\(|options\.begin_warmup,")
PARAMETERS = re.compile(r"^    params:\n((?: {8}.*\n)+)", re.M)
COMMAND = re.compile(r"^    shell:\n((?: {8}.*\n)+)", re.M)


def dangers(source: str) -> Iterator[str]:
    """Name everything in Python code that could run what it reads, or call out."""
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            harmless = {alias.name for alias in node.names} <= STARTING_WORKERS.get(
                node.module or "", set()
            )
            names = [] if harmless else [node.module or ""]
        elif isinstance(node, ast.Call):
            yield from dangers_of_call(node)
        roots = {name.split(".")[0] for name in names}
        yield from roots & (RUN_WHAT_THEY_READ | CALL_OUT)


def dangers_of_call(node: ast.Call) -> Iterator[str]:
    """Name what is dangerous in one call: the function, or an argument that is not False."""
    called = ast.unparse(node.func)
    yield from {called, called.split(".")[-1]} & CALLS
    for word in node.keywords:
        if word.arg in ARGUMENTS and ast.unparse(word.value) != "False":
            yield f"{called}({word.arg})"


def python_of(workflow: str) -> str:
    """Give the Python of a file of the workflow: what stands before its rules."""
    text = DIRECTIVE.sub("", FIRST_RULE.split(workflow, maxsplit=1)[0])
    return re.sub(r"^on(start|success|error):$", "if True:", text, flags=re.M)  # bodies of Python


DANGEROUS = """\
import pickle
from pickle import loads
import os.path, marshal
import joblib as j
from joblib import Parallel, load
from urllib.request import urlopen
import socket
yaml.load(text, Loader)
yaml.unsafe_load(text)
eval(text)
exec(text)
os.system(text)
np.load(path, allow_pickle=True)
np.load(path, allow_pickle=asked)
subprocess.run(text, shell=True)
pd.read_pickle(path)"""
HARMLESS = """\
np.load(path, allow_pickle=False)
json.loads(text)
model.evaluate(x)
import os
from joblib import Parallel"""


def test_dangers_are_seen_and_nothing_else() -> None:
    assert [line for line in DANGEROUS.splitlines() if not [*dangers(line)]] == []
    assert [*dangers(HARMLESS)] == []


def test_no_module_of_ours_runs_what_it_reads_or_calls_out() -> None:
    modules = [*(ROOT / "src/nlobayes").rglob("*.py")]
    assert len(modules) > 100
    found = {path: [*dangers(path.read_text())] for path in modules}
    assert {path: each for path, each in found.items() if each} == {}


def test_the_workflow_runs_nothing_but_verbs() -> None:
    for path in [ROOT / "Snakefile", ROOT / "workflow/Snakefile", *RULES]:
        text = path.read_text()
        assert [*dangers(python_of(text))] == [], path
        assert not re.search(r"^ +(run|script|notebook|wrapper|cwl|template_engine):", text, re.M)
        commands = COMMAND.findall(text)
        assert text.count(" shell:") == len(commands), path
        assert [each for each in commands if not each.strip().startswith('"nlobayes ')] == []


def test_every_path_in_a_command_is_quoted() -> None:
    """Numbers need no quotes; a parameter of several words is spelt by a function that quotes."""
    text = "".join(path.read_text() for path in RULES)
    words = {word for command in COMMAND.findall(text) for word in re.findall(r"{(.+?)}", command)}
    bare = {word for word in words if not word.endswith(":q")} - NUMBERS - SPELT_TO_PLOT
    assert bare
    parameters = "".join(PARAMETERS.findall(text))
    for word in bare:
        spelt = re.findall(rf"^        {word.removeprefix('params.')}=(.+)$", parameters, re.M)
        assert spelt, word
        assert all(QUOTING.match(how) for how in spelt), (word, spelt)


def lock() -> dict[str, Any]:
    return tomllib.loads((ROOT / "uv.lock").read_text())


def test_every_file_of_every_locked_package_is_of_the_public_index_and_has_its_hash() -> None:
    packages = [package for package in lock()["package"] if package["name"] != "nlobayes"]
    assert len(packages) > 100
    for package in packages:
        assert package["source"] == {"registry": "https://pypi.org/simple"}, package["name"]
        files = [*package.get("wheels", []), *filter(None, [package.get("sdist")])]
        assert files, package["name"]
        for file in files:
            assert re.fullmatch(r"sha256:[0-9a-f]{64}", file["hash"]), file["url"]
            assert file["url"].startswith("https://files.pythonhosted.org/"), package["name"]


def test_credentials_of_dvc_stay_out_of_git() -> None:
    """`dvc remote modify --local` writes them into .dvc/config.local."""
    assert "/config.local" in (ROOT / ".dvc/.gitignore").read_text().splitlines()
    secrets = re.compile("password|secret|token|access_key|credential|connection_string")
    assert not secrets.search((ROOT / ".dvc/config").read_text())
