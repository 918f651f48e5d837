"""Check that files from unknown sources hold only plain arrays in plain groups.

Artifacts have groups below the root, and in them uncompressed arrays of numbers or text. HDF5 can
also place the values of an array in another file of the machine, link a group into itself, let a
million texts share one address, or compress zeros. Files with any of these are refused. No link is
followed, and nothing is read before its size was counted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from h5py import h5a, h5d, h5f, h5g, h5l, h5o, h5p, h5s, h5t

from nlobayes.artifacts.places import damaged, remedy
from nlobayes.errors import InputError
from nlobayes.untyped import Document

MOST_OBJECTS = 4096
"""Largest number of groups and arrays of a file, and of attributes of each."""
PACKING = frozenset({"scale_factor", "add_offset", "missing_value", "_Unsigned", "_Encoding"})
"""Attributes by which NetCDF readers change values; artifacts never have them."""
REFERENCES = frozenset({b"DIMENSION_LIST", b"REFERENCE_LIST"})
"""Attributes by which the NetCDF library assigns dims to arrays."""
NAME = b"NAME"
"""Attribute by which the NetCDF library names arrays of dims."""
BARE_DIM = b"This is a netCDF dimension but not a netCDF variable"
"""Prefix of the name of an array that only gives the length of a dim; it has no values."""
NUMBERS = (
    *(h5t.IEEE_F32LE, h5t.IEEE_F64LE),
    *(h5t.STD_I8LE, h5t.STD_I16LE, h5t.STD_I32LE, h5t.STD_I64LE),
    *(h5t.STD_U8LE, h5t.STD_U16LE, h5t.STD_U32LE, h5t.STD_U64LE),
)
TEXT_PLACE = np.dtype([("length", "<u4"), ("address", "<u8"), ("index", "<u4")])
"""Stored entry of an array of texts of variable length."""


class Plain(NamedTuple):
    """A checked open file: attributes of its root, and arrays by `group/name`."""

    attributes: Document
    arrays: dict[str, h5d.DatasetID]

    def numbers(self) -> dict[str, np.ndarray]:
        """Read all arrays of numbers."""
        found = {}
        for place, array in self.arrays.items():
            if not isinstance(array.get_type(), h5t.TypeStringID):
                found[place] = np.empty(array.shape, array.dtype)
                array.read(h5s.ALL, h5s.ALL, found[place])
        return found


@contextmanager
def open_plain(path: Path, *, read_elsewhere: bool = True) -> Iterator[Plain]:
    """Open a file and check that it holds plain arrays alone, no more bytes than it has.

    Attributes of groups and arrays are checked if the file is also `read_elsewhere`, by a NetCDF
    library, which reads them.

    Raises InputError if the check fails, or the file cannot be read as HDF5.
    """
    try:
        file = _open(os.fsencode(path))
        try:
            yield _Checker(path, read_elsewhere).check(h5o.open(file, b"/"))
        finally:
            file.close()
    except InputError:
        raise
    except (OSError, RuntimeError, ValueError, TypeError, KeyError) as error:
        raise InputError(
            "artifacts.not_hdf5", path=path, reason=str(error), remedy=remedy(path)
        ) from error


def _open(path: bytes) -> h5f.FileID:
    """Open a file so that closing it closes all its objects.

    If this process has the file open in another mode, the default mode is used.
    """
    access = h5p.create(h5p.FILE_ACCESS)
    access.set_fclose_degree(h5f.CLOSE_STRONG)
    try:
        return h5f.open(path, h5f.ACC_RDONLY, access)
    except OSError:
        return h5f.open(path, h5f.ACC_RDONLY)


class _Checker:
    """Checker of one file: it visits all objects, counts their bytes, and refuses others."""

    def __init__(self, path: Path, read_elsewhere: bool) -> None:
        self._path = path
        self._checked = None if read_elsewhere else NAME
        self._left = path.stat().st_size
        self._seen: set[int] = set()
        self._arrays: dict[str, h5d.DatasetID] = {}

    def check(self, root: h5g.GroupID) -> Plain:
        self._visit(h5o.get_info(root), "/")
        for name, group in self._objects(root, "", h5o.TYPE_GROUP, "group below the root"):
            self._attributes(group, name, self._checked)
            for place, array in self._objects(group, f"{name}/", h5o.TYPE_DATASET, "array"):
                self._array(array, place)
        return Plain(self._attributes(root, "the root"), self._arrays)

    def _objects(
        self, group: h5g.GroupID, above: str, kind: int, allowed: str
    ) -> Iterator[tuple[str, Any]]:
        """Open the objects of a group; each must be of this kind and may occur once in the file."""
        for link in _names(group.links.iterate):
            place = above + link.decode()
            if group.links.get_info(link).type != h5l.TYPE_HARD:
                raise damaged("artifacts.link_elsewhere", self._path, place=place)
            info = h5o.get_info(group, link)
            self._visit(info, place)
            if info.type != kind:
                raise damaged("artifacts.no_plain_object", self._path, place=place, allowed=allowed)
            yield place, h5o.open(group, link)

    def _visit(self, info: Any, place: str) -> None:
        if info.addr in self._seen:
            raise damaged("artifacts.linked_twice", self._path, place=place)
        self._seen.add(info.addr)
        if len(self._seen) > MOST_OBJECTS:
            raise damaged("artifacts.too_many_objects", self._path, most=MOST_OBJECTS)

    def _array(self, array: h5d.DatasetID, place: str) -> None:
        storage = array.get_create_plist()
        if storage.get_layout() not in _layouts(array) or storage.get_nfilters():
            raise damaged("artifacts.packed_array", self._path, place=place)
        if storage.get_external_count():
            raise damaged("artifacts.values_elsewhere", self._path, place=place)
        attributes = self._attributes(array, place, self._checked)
        if str(attributes.get(NAME.decode(), "")).encode().startswith(BARE_DIM):
            return
        self._count(array, place)
        self._arrays[place] = array

    def _count(self, array: h5d.DatasetID, place: str) -> None:
        """Count the bytes of an array, including those of each of its texts."""
        kind = array.get_type()
        self._check_type(kind, place)
        count = array.get_space().get_simple_extent_npoints()
        self._claim(count * kind.get_size(), place)
        if isinstance(kind, h5t.TypeStringID) and kind.is_variable_str() and count:
            start = array.get_offset()
            if start is None:
                raise damaged("artifacts.no_values", self._path, place=place)
            places = np.fromfile(self._path, TEXT_PLACE, count, offset=start)
            self._claim(int(places["length"].sum(dtype=np.uint64)), place)

    def _attributes(self, place: Any, name: str, only: bytes | None = None) -> Document:
        """Read attributes of a group or an array, or one: numbers, lists of numbers, and texts."""
        if h5a.get_num_attrs(place) > MOST_OBJECTS:
            raise damaged(
                "artifacts.too_many_attributes", self._path, place=name, most=MOST_OBJECTS
            )
        found = {}
        for stored in _names(lambda each: h5a.iterate(place, each)):
            key = stored.decode()
            if key in PACKING:
                raise damaged("artifacts.packing_attribute", self._path, place=name, attribute=key)
            if only not in (None, stored):
                continue
            attribute = h5a.open(place, stored)
            self._claim(attribute.get_storage_size(), name)
            if stored in REFERENCES:
                continue
            self._check_type(attribute.get_type(), f"{key} of {name}")
            if attribute.dtype == object and attribute.shape not in ((), (1,)):
                raise damaged("artifacts.several_texts", self._path, place=name, attribute=key)
            found[key] = _value(attribute)
            self._claim(len(found[key]) if attribute.dtype == object else 0, name)
        return found

    def _check_type(self, kind: h5t.TypeID, place: str) -> None:
        text = isinstance(kind, h5t.TypeStringID)
        if not text and not any(kind.equal(number) for number in NUMBERS):
            raise damaged("artifacts.other_values", self._path, place=place)

    def _claim(self, count: int, place: str) -> None:
        self._left -= count
        if self._left < 0:
            raise damaged("artifacts.claims_too_much", self._path, place=place)


def _layouts(array: h5d.DatasetID) -> tuple[int, ...]:
    """List the layouts that an array may have in the file.

    Chunks are allowed for an array without values only, which netCDF stores in empty chunks.
    """
    empty = not array.get_space().get_simple_extent_npoints() and not array.get_storage_size()
    return (h5d.CONTIGUOUS, h5d.COMPACT, h5d.CHUNKED)[: 3 if empty else 2]


def _names(iterate: Callable[[Callable[[bytes], Any]], Any]) -> list[bytes]:
    """List the names that HDF5 iterates over, at most one more than `MOST_OBJECTS`."""
    found: list[bytes] = []

    def add(name: bytes, *_: Any) -> bool | None:
        found.append(name)
        return len(found) > MOST_OBJECTS or None

    iterate(add)
    return found


def _value(attribute: h5a.AttrID) -> Any:
    """Read an attribute: its text, its number, or a list of several numbers."""
    kind = attribute.get_type()
    if isinstance(kind, h5t.TypeStringID) and not kind.is_variable_str():
        stored = np.empty(attribute.shape, f"S{kind.get_size()}")
    else:
        stored = np.empty(attribute.shape, attribute.dtype)
    attribute.read(stored)
    value = stored.tolist()
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value.decode() if isinstance(value, bytes) else value
