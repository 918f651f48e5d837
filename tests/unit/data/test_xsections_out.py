"""Blocks XSECTION are added to SLHA text as pyslha reads them; nothing else changes."""

import pyslha
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nlobayes.data.xsections import Entry, others, put

PROTONS, PAIR = (2212, 2212), (1000022, 1000023)
ENTRY = Entry(13000.0, PROTONS, PAIR, 2, 1, 0.0123456789, "0.1.0", ("68 %: a to b", "inside"))
SLHA = b"""\
# made by a generator
Block MASS
  1000022   -9.75E+01  # a
  1000023    1.80E+02
"""
FOREIGN = b"""\
XSECTION  1.30E+04  2212 2212 2 1000022 1000023 # Nevts: 10000
  0 1 0 0 0 0  2.5E-02 SModelSv3 3.2.1
DECAY   1000023   1.0
   1.0  2  1000022  23
"""


def cross_sections(content: bytes) -> list[tuple[float, int, float, list[str]]]:
    """Read all cross sections of one process, in the order of the text."""
    processes = pyslha.readSLHA(content.decode("utf-8", "replace")).xsections
    found = processes[(*PROTONS, *PAIR)].xsecs
    return [(x.sqrts, x.qcd_order, x.value, x.code) for x in found]


def test_pyslha_reads_what_is_appended() -> None:
    found = put(SLHA, ENTRY)
    assert found.startswith(SLHA)
    (read,) = pyslha.readSLHA(found.decode()).xsections[(*PROTONS, *PAIR)].xsecs
    assert read.value == pytest.approx(0.0123456789, rel=1e-8)
    numbers = (read.sqrts, read.scale_scheme, read.qcd_order, read.ew_order, read.pdf_id)
    assert numbers == (13000.0, 2, 1, 0, 0)
    assert (read.kappa_f, read.kappa_r, read.code) == (1.0, 1.0, ["nlobayes", "0.1.0"])
    assert b"\nXSECTION  1.30E+04  2212 2212 2 1000022 1000023 # nlobayes\n" in found
    assert found.endswith(b"\n# nlobayes: 68 %: a to b\n# nlobayes: inside\n")


@given(st.binary(max_size=300).filter(lambda text: b"nlobayes" not in text.lower()))
@example(b"Block MASS\r\n 1 2\r\n")
@example(b"Block MASS\n 1 2")
def test_every_other_byte_stays(before: bytes) -> None:
    once = put(before, ENTRY)
    assert once.startswith(before)
    assert put(once, ENTRY) == once
    end = b"\r\n" if before.splitlines(keepends=True)[:1] == [b"Block MASS\r\n"] else b"\n"
    block = once[len(before) :].removeprefix(end)
    after = before + (b"" if before.endswith((b"\n", b"\r")) or not before else end)
    assert once == after + block
    other = put(after + block + FOREIGN, ENTRY._replace(value=0.5))
    assert other.startswith(after + b"XSECTION")
    assert other.endswith(FOREIGN)
    assert b"1.23456789E-02" not in other
    assert b"5.00000000E-01 nlobayes 0.1.0" in other


def test_only_our_own_of_the_same_process_energy_and_order_is_replaced() -> None:
    others = [
        ENTRY._replace(sqrt_s_gev=13600.0, value=0.2),
        ENTRY._replace(outgoing=(1000022, 1000022), value=0.3),
        ENTRY._replace(order=0, value=0.4),
    ]
    content = SLHA + FOREIGN
    for entry in [*others, ENTRY]:
        content = put(content, entry)
    found = put(content, ENTRY._replace(value=0.9, comments=()))
    assert cross_sections(found) == [
        (13000.0, 1, 0.025, ["SModelSv3", "3.2.1"]),
        (13600.0, 1, 0.2, ["nlobayes", "0.1.0"]),
        (13000.0, 0, 0.4, ["nlobayes", "0.1.0"]),
        (13000.0, 1, 0.9, ["nlobayes", "0.1.0"]),
    ]
    assert found.startswith(SLHA + FOREIGN)


def test_particles_count_in_any_order() -> None:
    turned = ENTRY._replace(outgoing=PAIR[::-1])
    assert put(put(SLHA, turned), ENTRY) == put(SLHA, ENTRY)
    signed = put(SLHA, ENTRY).replace(b"1000022 1000023", b"+1000023 1000022")
    assert put(signed, ENTRY) == put(SLHA, ENTRY)


@pytest.mark.parametrize(
    ("old", "new", "left"),
    [
        (b"", b"", ("SModelSv3 3.2.1",)),
        (b"1000022 1000023", b"1000023 1000022", ("SModelSv3 3.2.1",)),
        (b" SModelSv3 3.2.1", b"", ("a program without a name",)),
        (b"0 1 0", b"0 2 0", ()),
        (b"0 1 0", b"0 1 1", ()),
        (b"1.30E+04", b"1.36E+04", ()),
        (b"1000022 1000023", b"1000022 1000022", ()),
        (b"XSECTION", b"BLOCK", ()),
    ],
)
def test_others_of_the_same_process_are_named(old: bytes, new: bytes, left: tuple[str]) -> None:
    content = put(SLHA + FOREIGN.replace(old, new), ENTRY)
    assert others(content, ENTRY) == left


def test_our_own_that_stands_twice_is_left_once() -> None:
    twice = put(SLHA, ENTRY) + FOREIGN + put(b"", ENTRY)
    found = put(twice, ENTRY)
    assert found == put(SLHA, ENTRY) + FOREIGN


@pytest.mark.parametrize("energy", [13000.0, 13600.0, 7000.0, 13012.34, 91.1876])
def test_energies_are_not_rounded_away(energy: float) -> None:
    (read,) = cross_sections(put(SLHA, ENTRY._replace(sqrt_s_gev=energy)))
    assert read[0] == pytest.approx(energy, rel=1e-9)
