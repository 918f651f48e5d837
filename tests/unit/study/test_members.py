"""Settings are found by the names of their files, and a file that breaks the rule is named."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from nlobayes.settings import members
from nlobayes.settings.values import Frozen
from tests.refusals import invalid

MEMBER = """
from typing import Literal
from nlobayes.settings.values import Frozen

class Part(Frozen):
    size: int = 1

class {name}(Frozen):
    kind: Literal["{kind}"]
    part: Part = Part()
"""


@pytest.fixture
def family(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Write a package of members and give the arguments that find them."""

    def write(**kinds: str) -> tuple[str, str]:
        package = f"family_{tmp_path.name}"
        folder = tmp_path / package
        folder.mkdir()
        (folder / "__init__.py").touch()
        (folder / "_helper.py").write_text("raise AssertionError('a helper is no member')")
        for name, kind in kinds.items():
            text = MEMBER.format(name=name.title(), kind=kind)
            (folder / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(str(tmp_path))
        return package, str(folder / "__init__.py")

    return write


def test_the_kind_distinguishes_the_members_of_a_union(family: Any) -> None:
    package, file = family(warm="warm", cold="cold")
    found = members.settings_of(package, file, Frozen)
    union = TypeAdapter(members.one_of_kinds(found.values()))
    assert type(union.validate_python({"kind": "cold"})).__name__ == "Cold"
    with invalid("union_tag_invalid"):
        union.validate_python({"kind": "hot"})


def test_two_settings_of_one_kind_are_named(family: Any) -> None:
    package, file = family(warm="hot", cold="hot")
    with pytest.raises(TypeError, match="Warm and Cold are of 'hot'"):
        members.settings_of(package, file, Frozen)


def test_a_file_without_settings_is_named(family: Any) -> None:
    package, file = family(warm="hot")
    Path(file).with_name("empty.py").touch()
    with pytest.raises(TypeError, match=r"empty\.py must define settings"):
        members.settings_of(package, file, Frozen)
