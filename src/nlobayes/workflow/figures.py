"""The figures and tables of the rules, from the list of all figures."""

from __future__ import annotations

from nlobayes.figures import OF_EVERY_RUN, VERDICTS, Of, by_category, names_of, tables_of

CHAIN_FIGURES = by_category(Of.CHAINS)
TABLES_BESIDE_CHAINS = OF_EVERY_RUN
"""Tables that figures of chains need in addition to their own."""
SIZE_FIGURES = by_category(Of.DRAWN_SIZES)
(PRIOR,) = names_of(Of.PRIORS)
(FIDELITY,) = names_of(Of.APPROXIMATED)
(DATA,) = names_of(Of.DATA)
DATA_TABLES = tables_of(Of.DATA)
LANDSCAPE_FIGURES = names_of(Of.MAPS)
LANDSCAPE_TABLES = tables_of(Of.MAPS)
PRIOR_TABLES = tables_of(Of.PRIORS)
SCANS, SETTINGS, PULLS = (names_of(kind) for kind in (Of.GRIDS, Of.SETTINGS, Of.PULLS))
"""Figures of any grid, of one of several settings, and of one of several settings of numbers."""
SETTING_TABLES, PULL_TABLES = (tables_of(kind) for kind in (Of.SETTINGS, Of.PULLS))
COMPARED = ("scanned", *SETTING_TABLES, *PULL_TABLES)
"""Tables of a comparison, except that of the runs."""
BAND_TABLES = (*VERDICTS, *tables_of(Of.ONE_FEATURE))
PLANE_TABLES = (*VERDICTS, *tables_of(Of.PLANES))
IMAGE_TABLES = (*VERDICTS, *tables_of(Of.IMAGES))
SCALE_TABLES = (*VERDICTS, *tables_of(Of.KNOWN_SCALE))
VERDICTS_OF_RUN = dict(zip(("--verdict", "--calibration"), VERDICTS, strict=True))
"""The option of `plot` that takes each verdict."""
