"""Whatever is done to finished results, `nlobayes verify` names it, and nothing else."""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import combinations
from pathlib import Path
from string import digits as DIGITS
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from nlobayes.artifacts.audit import origins
from nlobayes.artifacts.netcdf import read_attrs
from nlobayes.commands.audit import verify as verifying
from nlobayes.commands.audit.verify import verify
from nlobayes.commands.pipeline.export import export

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

RUN = "tiny/n4/fan_in/tolerance_10/tiny/tiny/s1"
SURROGATE = f"results/surrogates/{RUN}.nc"
OTHER_SURROGATE = SURROGATE.replace("s1.nc", "s2.nc")
CHAINS = f"results/chains/{RUN}"
ELSEWHERE = "results/elsewhere"
PAGE = 4096
SEED = 2026
BY_DAY = 4
"""Tries of each sort; all by night."""


class Try(NamedTuple):
    """What is done, to which files and folders, and which of them must be named."""

    do: Callable[[], object]
    touched: list[str]
    named: list[str]


@pytest.fixture(scope="module", autouse=True)
def remember() -> Iterator[None]:
    """Read a file once as long as its inode, date and size are the same: a try touches few."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name in (
            (origins, "digest"),
            (origins, "open_artifact"),
            (verifying, "inspect"),
        ):
            patch.setattr(module, name, once_per_version(getattr(module, name)))
        yield


def once_per_version(read: Callable[[Path], Any]) -> Callable[[Path], Any]:
    known: dict[tuple[Any, ...], Any] = {}

    def remembered(path: Path, **options: Any) -> Any:
        found = path.stat()
        version = (path, found.st_ino, found.st_mtime_ns, found.st_size)
        if version not in known:
            known[version] = read(path, **options)
        return known[version]

    return remembered


@pytest.fixture(scope="module")
def results(tiny: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """The files of a finished study with two surrogates of one kind, from within its copy."""
    root = tiny.copy_to(tmp_path_factory.mktemp("hostile") / "project").root
    before = Path.cwd()
    os.chdir(root)
    add_another_surrogate()
    yield [p.as_posix() for p in sorted(Path("results").rglob("[!.]*")) if p.is_file()]
    os.chdir(before)


def add_another_surrogate() -> None:
    made = read_attrs(Path(SURROGATE))
    spec = made["spec"] | {"export": made["spec"]["export"] | {"draws": 9}}
    dataset, diagnostics, evaluation, posterior = map(Path, sorted(made["inputs"]))
    export(
        json.dumps(spec),
        *(posterior, dataset, diagnostics, evaluation),
        Path(OTHER_SURROGATE),
        Path(f"results/records/export/{RUN}.json").with_stem("s2"),
    )


def told(capsys: pytest.CaptureFixture[str], path: str = "results") -> list[str]:
    """Verify, and list the lines on problems and the notes; the status says if there are any."""
    capsys.readouterr()
    status = 0
    try:
        verify(Path(path))
    except SystemExit as stopped:
        status = int(str(stopped.code))
    printed = capsys.readouterr()
    *found, total = printed.out.splitlines()
    assert status == bool(found)
    assert total.endswith(f"{len(found) or 'no'} problem{'s' * (len(found) != 1)}")
    return found + [line.removeprefix("note: ") for line in printed.err.splitlines()]


@contextmanager
def put_right(touched: Iterable[str]) -> Iterator[None]:
    """Put files and folders back as they were, and remove those that were not there."""
    kept = {Path(name): Path(name).read_bytes() for name in touched if Path(name).is_file()}
    try:
        yield
    finally:
        for path in (Path(name) for name in touched):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        for path, content in kept.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


# Bytes of one file


def flip_bit(content: bytearray, rng: random.Random) -> None:
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)


def cut(content: bytearray, rng: random.Random) -> None:
    del content[rng.randrange(len(content)) :]


def zero_page(content: bytearray, rng: random.Random) -> None:
    pages = [slice(at, at + PAGE) for at in range(0, len(content), PAGE)]
    page = rng.choice([page for page in pages if any(content[page])])
    content[page] = bytes(len(content[page]))


def edit_digit(content: bytearray, rng: random.Random) -> None:
    place = rng.choice([place for place, byte in enumerate(content) if chr(byte) in DIGITS])
    content[place] = ord(rng.choice([digit for digit in DIGITS if ord(digit) != content[place]]))


def add_newline(content: bytearray, rng: random.Random) -> None:
    content += b"\n"


Damage = Callable[[bytearray, random.Random], None]
DAMAGES: dict[str, tuple[Damage, tuple[str, ...], int]] = {
    "bit": (flip_bit, ("",), 45),
    "cut": (cut, ("",), 35),
    "page": (zero_page, ("",), 30),
    "digit": (edit_digit, (".json", ".csv"), 30),
    "newline": (add_newline, ("",), 10),
}
"""What is done, to names of which endings, and how often by night."""


def damages(sort: str, results: list[str], rng: random.Random) -> list[Try]:
    damage, endings, count = DAMAGES[sort]
    fit = [name for name in results if name.endswith(endings) and has_digit(name)]
    return [
        Try(partial(spoil, name, damage, rng), [name], [name]) for name in rng.sample(fit, count)
    ]


def has_digit(name: str) -> bool:
    content = Path(name).read_bytes()
    return any(ord(digit) in content for digit in DIGITS)


def spoil(name: str, damage: Damage, rng: random.Random) -> None:
    content = bytearray(Path(name).read_bytes())
    damage(content, rng)
    Path(name).write_bytes(content)


# Whole files


def deletions(results: list[str], rng: random.Random) -> list[Try]:
    """One file of each folder below results/ and a figure first, all figures, then any."""
    folders = {Path(name).parts[1]: name for name in rng.sample(results, len(results))}
    first = [SURROGATE, f"results/records/export/{RUN}.json", *folders.values()]
    figures = [name for name in results if name.startswith("results/figures/")]
    return [
        *(Try(Path(name).unlink, [name], missed([name])) for name in first),
        Try(partial(shutil.rmtree, "results/figures"), figures, figures),
        *(Try(Path(name).unlink, [name], missed([name])) for name in rng.sample(results, 25)),
    ]


def missed(gone: list[str]) -> list[str]:
    """Say what tells of it: a record that is gone is missed by what it alone explains."""
    (name,) = gone
    if not name.startswith("results/records/"):
        return gone
    outputs = [*json.loads(Path(name).read_text())["outputs"]]
    return [one for one in outputs if not one.endswith(".nc")] or outputs


def swaps(results: list[str], rng: random.Random) -> list[Try]:
    """Of surrogates, pieces of chains and records first, then of any files of a kind."""
    pairs = [
        (SURROGATE, OTHER_SURROGATE),
        (f"{CHAINS}/0/segment_0.nc", f"{CHAINS}/1/segment_0.nc"),
        (f"{CHAINS}/0/warmup_0.nc", f"{CHAINS}/1/warmup_0.nc"),
        (f"results/records/diagnose/{RUN}.json", f"results/records/evaluate/{RUN}.json"),
        *rng.sample([*pairs_of_a_kind(results)], 13),
    ]
    return [Try(partial(swap, *pair), [*pair], [*pair]) for pair in pairs]


def pairs_of_a_kind(results: list[str]) -> Iterator[tuple[str, str]]:
    """Pair files of one folder and ending that differ."""
    for one, other in combinations(map(Path, results), 2):
        alike = one.parent == other.parent and one.suffix == other.suffix
        if alike and one.read_bytes() != other.read_bytes():
            yield str(one), str(other)


def swap(one: str, other: str) -> None:
    kept = Path(one).read_bytes()
    shutil.copy(other, one)
    Path(other).write_bytes(kept)


def misplacements(results: list[str], rng: random.Random) -> list[Try]:
    """Copies under other names and in other folders, files in the place of others, moved files."""
    copies = {
        SURROGATE: SURROGATE.replace("s1.nc", "s99.nc"),
        f"{CHAINS}/0/segment_0.nc": f"{CHAINS}/0/segment_7.nc",
        f"results/records/plot/{RUN}.json": f"results/records/plot/{RUN}0.json",
        **{name: f"results/elsewhere/{Path(name).name}" for name in rng.sample(results, 5)},
        **{name: f"{name}.copy" for name in rng.sample(results, 5)},
    }
    over = [(OTHER_SURROGATE, SURROGATE), (f"{CHAINS}/0/warmup_0.nc", f"{CHAINS}/0/segment_0.nc")]
    moves = [(name, f"results/elsewhere/{name}") for name in (SURROGATE, *rng.sample(results, 4))]
    return [
        *(Try(partial(put, *pair), [outermost(pair[1])], [pair[1]]) for pair in copies.items()),
        *(Try(partial(put, *pair), [pair[1]], [pair[1]]) for pair in over),
        *(
            Try(partial(move, *pair), [pair[0], ELSEWHERE], [*missed([pair[0]]), pair[1]])
            for pair in moves
        ),
    ]


def outermost(place: str) -> str:
    return ELSEWHERE if place.startswith(ELSEWHERE) else place


def put(name: str, place: str) -> None:
    Path(place).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(name, place)


def move(name: str, place: str) -> None:
    put(name, place)
    Path(name).unlink()


# What is no result at all


def strangers(results: list[str], rng: random.Random) -> list[Try]:
    folder = "results/data/"
    made: dict[str, Callable[[str], object]] = {
        "pipe": os.mkfifo,
        "socket": bind,
        "dangling.nc": partial(os.symlink, "nowhere"),
        "loop.nc": partial(os.symlink, "loop.nc"),
        "above": partial(os.symlink, ".."),
        "linked": partial(os.symlink, "/etc"),
        "passwd.nc": partial(os.symlink, "/etc/passwd"),
        ".hidden": lambda name: put(SURROGATE, f"{name}/deep/s1.nc"),
        ".notes": lambda name: put(SURROGATE, name),
        "notes.txt": lambda name: put(SURROGATE, name),
        "fresh.csv": lambda name: Path(name).write_text("a,b\n1,2\n"),
        "fresh.nc": lambda name: Path(name).write_bytes(b""),
        "fresh.json": lambda name: Path(name).write_text("{}"),
        "line\nof\x1b[31m.csv": lambda name: Path(name).write_text("a\n"),
        "no\udcffutf8.csv": lambda name: Path(name).write_text("a\n"),
    }
    return [
        Try(partial(make, folder + name), [folder + name], [folder + printed(name)])
        for name, make in made.items()
    ]


def bind(name: str) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(name)


def printed(name: str) -> str:
    """On one line, without what a terminal would obey."""
    spaced = " ".join(name.split())
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in spaced)


WHOLE = {each.__name__: each for each in (deletions, swaps, misplacements, strangers)}


def tries(sort: str, results: list[str]) -> list[Try]:
    rng = random.Random(f"{sort} {SEED}")
    return damages(sort, results, rng) if sort in DAMAGES else WHOLE[sort](results, rng)


def not_named(one: Try, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Do it, verify, put all right again, and list what should have been named."""
    with put_right(one.touched):
        one.do()
        lines = told(capsys)
    return [name for name in one.named if not any(line.startswith(name) for line in lines)]


@pytest.mark.parametrize("sort", [*DAMAGES, *WHOLE])
def test_what_is_done_to_results_is_named(
    results: list[str], capsys: pytest.CaptureFixture[str], sort: str
) -> None:
    made = tries(sort, results)
    chosen = made if sort == "strangers" else made[:BY_DAY]
    assert [found for one in chosen if (found := not_named(one, capsys))] == []
    assert told(capsys) == []


@pytest.mark.slow
@pytest.mark.parametrize("sort", [*DAMAGES, *WHOLE])
def test_all_that_is_done_to_results_is_named(
    results: list[str], capsys: pytest.CaptureFixture[str], sort: str
) -> None:
    assert [found for one in tries(sort, results) if (found := not_named(one, capsys))] == []
    assert told(capsys) == []
