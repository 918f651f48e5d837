"""The figures and tables of the rules, from the list of all figures."""

from __future__ import annotations

from nlobayes.figures import OF_EVERY_RUN, VERDICTS, FigureKind, by_category, names_of, tables_of

CHAIN_FIGURES = by_category(FigureKind.CHAINS)
TABLES_BESIDE_CHAINS = OF_EVERY_RUN
"""Tables that figures of chains need in addition to their own."""
SIZE_FIGURES = by_category(FigureKind.DRAWN_SIZES)
(PRIOR,) = names_of(FigureKind.PRIORS)
(FIDELITY,) = names_of(FigureKind.APPROXIMATED)
(DATA,) = names_of(FigureKind.DATA)
DATA_TABLES = tables_of(FigureKind.DATA)
LANDSCAPE_FIGURES = names_of(FigureKind.MAPS)
LANDSCAPE_TABLES = tables_of(FigureKind.MAPS)
PRIOR_TABLES = tables_of(FigureKind.PRIORS)
SCANS, SETTINGS, PULLS = (
    names_of(kind) for kind in (FigureKind.GRIDS, FigureKind.SETTINGS, FigureKind.PULLS)
)
"""Figures of any grid, of one of several settings, and of one of several settings of numbers."""
SETTING_TABLES, PULL_TABLES = (tables_of(kind) for kind in (FigureKind.SETTINGS, FigureKind.PULLS))
COMPARED = ("scanned", *SETTING_TABLES, *PULL_TABLES)
"""Tables of a comparison, except that of the runs."""
BAND_TABLES = (*VERDICTS, *tables_of(FigureKind.ONE_FEATURE))
PLANE_TABLES = (*VERDICTS, *tables_of(FigureKind.PLANES))
IMAGE_TABLES = (*VERDICTS, *tables_of(FigureKind.IMAGES))
SCALE_TABLES = (*VERDICTS, *tables_of(FigureKind.KNOWN_SCALE))
VERDICTS_OF_RUN = dict(zip(("--verdict", "--calibration"), VERDICTS, strict=True))
"""The option of `plot` that takes each verdict."""
