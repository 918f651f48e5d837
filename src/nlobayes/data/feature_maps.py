"""Feature maps: what the network sees of a neutralino or of a pair, whatever signs it comes with.

A cross section does not change when a whole row of mixings changes sign, nor when all masses of a
pair do: features of neutralinos are made of what does not change either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from nlobayes.errors import InputError

THRESHOLD_GEV = 45.5
"""Just below half the Z mass, where pair production through the Z opens."""

Z_SCALE, INTERFERENCE_SCALE = 0.005, 0.02
"""Where the coupling to the Z and what interferes with it pass from linear to logarithmic."""

NEUTRALINO = ("m", "N11", "N12", "N13", "N14")
PAIR = ("mi", "Ni1", "Ni2", "Ni3", "Ni4", "mj", "Nj1", "Nj2", "Nj3", "Nj4")

INVARIANT_NAMES = ("N11^2", "N12^2", "N13^2-N14^2", "N11*N12")
PAIR_NAMES = (
    f"ln(|mi|+|mj|-{2 * THRESHOLD_GEV:g})",
    "4*mi*mj/(|mi|+|mj|)^2",
    *(f"asinh({what})" for what in ("(Z/0.005)^2", "(W/0.02)^2", "(B/0.02)^2", "(X/0.02)^2")),
    *(f"Z*{other}/(Z^2+W^2+B^2+X^2)" for other in "WBX"),
)
"""Z = Ni3 Nj3 - Ni4 Nj4, W = Ni2 Nj2, B = Ni1 Nj1, X = Ni1 Nj2 + Ni2 Nj1."""

Apply = Callable[[np.ndarray], np.ndarray]


class FeatureMap(NamedTuple):
    """A map from inputs (row, column) to features (row, feature)."""

    apply: Apply
    columns: tuple[str, ...] | None
    """Columns expected, in order; None for any. The mass of the squarks may follow them."""
    features: tuple[str, ...] | None
    """Names of the features; None for those of the columns. That of the squarks follows them."""
    allowed: str
    """Inputs at which the features are finite."""


def _mixing_invariants(mixing: np.ndarray) -> list[np.ndarray]:
    n11, n12, n13, n14 = mixing.T
    return [n11**2, n12**2, n13**2 - n14**2, n11 * n12]


def _invariants(inputs: np.ndarray) -> np.ndarray:
    return np.column_stack([np.log(np.abs(inputs[:, 0])), *_mixing_invariants(inputs[:, 1:])])


def _threshold_invariants(inputs: np.ndarray) -> np.ndarray:
    above = np.abs(inputs[:, 0]) - THRESHOLD_GEV
    return np.column_stack([np.log(above), *_mixing_invariants(inputs[:, 1:])])


def _resolved_invariants(inputs: np.ndarray) -> np.ndarray:
    """Stretch the invariants where the cross section turns: coupling to the Z, and interference."""
    above = np.log(np.abs(inputs[:, 0]) - THRESHOLD_GEV)
    bino, wino, z_coupling, interference = _mixing_invariants(inputs[:, 1:])
    stretched = (np.arcsinh(z_coupling / Z_SCALE), np.arcsinh(interference / INTERFERENCE_SCALE))
    return np.column_stack([above, bino, wino, *stretched])


def _pair_invariants(inputs: np.ndarray) -> np.ndarray:
    """Take products of two rows of mixings: all change sign with a row, their products do not."""
    first, second = inputs[:, 0], inputs[:, 5]
    total = np.abs(first) + np.abs(second)
    bino_i, wino_i, down_i, up_i = inputs[:, 1:5].T
    bino_j, wino_j, down_j, up_j = inputs[:, 6:].T
    z_coupling = down_i * down_j - up_i * up_j
    gauginos = np.array([wino_i * wino_j, bino_i * bino_j, bino_i * wino_j + wino_i * bino_j])
    strength = z_coupling**2 + (gauginos**2).sum(axis=0)
    features = [
        np.log(total - 2 * THRESHOLD_GEV),
        4 * first * second / total**2,
        np.arcsinh(z_coupling**2 / Z_SCALE**2),
        *np.arcsinh(gauginos**2 / INTERFERENCE_SCALE**2),
        *(z_coupling * gauginos / strength),
    ]
    return np.column_stack(features)


def _raw(inputs: np.ndarray) -> np.ndarray:
    return inputs


def _and_squark(apply: Apply, width: int, inputs: np.ndarray) -> np.ndarray:
    """Add ln of the squark mass, where one follows; it exceeds the mass of every neutralino."""
    features = apply(inputs[:, :width])
    if inputs.shape[1] == width:
        return features
    squark, heaviest = inputs[:, -1], np.abs(inputs[:, :width:5]).max(axis=1)
    logarithm = np.log(np.where(squark > heaviest, squark, np.nan))
    return np.column_stack([features, logarithm])


def _neutralino_map(
    apply: Apply, columns: tuple[str, ...], features: tuple[str, ...], masses: str
) -> FeatureMap:
    allowed = f"finite inputs, {masses}, a mass of the squarks (where given) above the others"
    return FeatureMap(partial(_and_squark, apply, len(columns)), columns, features, allowed)


FEATURE_MAPS = {
    "invariants": _neutralino_map(
        _invariants, NEUTRALINO, ("ln|m|", *INVARIANT_NAMES), "|m| above 0"
    ),
    "threshold_invariants": _neutralino_map(
        _threshold_invariants,
        NEUTRALINO,
        (f"ln(|m|-{THRESHOLD_GEV})", *INVARIANT_NAMES),
        f"|m| above {THRESHOLD_GEV} GeV",
    ),
    "resolved_invariants": _neutralino_map(
        _resolved_invariants,
        NEUTRALINO,
        (
            f"ln(|m|-{THRESHOLD_GEV})",
            "N11^2",
            "N12^2",
            "asinh((N13^2-N14^2)/0.005)",
            "asinh(N11*N12/0.02)",
        ),
        f"|m| above {THRESHOLD_GEV} GeV",
    ),
    "pair_invariants": _neutralino_map(
        _pair_invariants,
        PAIR,
        PAIR_NAMES,
        f"|mi| + |mj| above {2 * THRESHOLD_GEV:g} GeV, mixings that couple to quarks",
    ),
    "raw": FeatureMap(_raw, None, None, "finite inputs"),
}


def feature_names(name: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Name the features that a map makes of the columns."""
    chosen = _feature_map(name)
    if chosen.columns is None or chosen.features is None:
        return tuple(columns)
    return chosen.features + tuple(f"ln {squark}" for squark in columns[len(chosen.columns) :])


def map_features(name: str, inputs: np.ndarray) -> np.ndarray:
    """Apply a feature map, without standardisation.

    Parameters
    ----------
    name
        Name in `FEATURE_MAPS`. All but `raw` are unchanged when a row of mixings, or the masses of
        all neutralinos, change sign.
    inputs
        Shape (row, column). Invariants take m (GeV, signed), N11, N12, N13, N14 in this order,
        those of a pair the same of its second neutralino behind, and all of them, if wanted, the
        mass of the squarks (GeV) as a last column.

    Returns
    -------
    Features of shape (row, feature).

    Raises
    ------
    InputError
        If the map is not known, the columns are too few or many, or a feature is not finite.
    """
    chosen = _feature_map(name)
    inputs = np.asarray(inputs, np.float64)
    _check_columns(name, chosen, inputs.shape)
    with np.errstate(all="ignore"):
        features = chosen.apply(inputs)
    check_rows(
        np.all(np.isfinite(features), axis=1), f"feature map {name!r} is not finite", chosen.allowed
    )
    return features


def check_rows(good: np.ndarray, what: str, allowed: str) -> None:
    """Refuse rows that are not `good` (row,).

    Raises
    ------
    InputError
        If there are any; it counts them and names the first.
    """
    bad = np.flatnonzero(~good) + 1
    if bad.size:
        rows = ", ".join(map(str, bad[:5])) + (", ..." if bad.size > 5 else "")
        raise InputError(
            f"{what} in {bad.size} of {good.size} rows ({rows}); allowed: {allowed}; "
            "remove these rows or choose another"
        )


def _feature_map(name: str) -> FeatureMap:
    if name not in FEATURE_MAPS:
        raise InputError(f"unknown feature map {name!r}; known: {', '.join(FEATURE_MAPS)}")
    return FEATURE_MAPS[name]


def _check_columns(name: str, chosen: FeatureMap, shape: tuple[int, ...]) -> None:
    if len(shape) == 2 and (chosen.columns is None or shape[1] - len(chosen.columns) in (0, 1)):
        return
    taken = ", ".join(chosen.columns or ("all columns",))
    squark = " and, if wanted, the mass of the squarks" if chosen.columns else ""
    raise InputError(
        f"feature map {name!r} got inputs of shape {shape}; it takes rows of {taken}{squark}; "
        "choose another map or columns"
    )
