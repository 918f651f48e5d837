"""The figures that rules name, from the one list of figures."""

from __future__ import annotations

from nlobayes.figures import VERDICTS, Of, names_of, tables_of

(PRIOR,) = names_of(Of.PRIORS)
LANDSCAPE_FIGURES = names_of(Of.MAPS)
LANDSCAPE_TABLES = tables_of(Of.MAPS)
PRIOR_TABLES = tables_of(Of.PRIORS)
COMPARISON_FIGURES = (*names_of(Of.GRIDS), *names_of(Of.SETTINGS))
"""The second is of two settings or more."""
BAND_TABLES = (*VERDICTS, *tables_of(Of.ONE_FEATURE))
SCALE_TABLES = (*VERDICTS, *tables_of(Of.KNOWN_SCALE))
VERDICTS_OF_RUN = dict(zip(("--verdict", "--calibration"), VERDICTS, strict=True))
"""The option of `plot` that takes each verdict."""
