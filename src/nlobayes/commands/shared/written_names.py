"""Names of inputs and targets with which the files of a surrogate can be written."""

import re
from collections.abc import Sequence

from nlobayes.data.column_names import BESIDE_INPUTS, LONGEST, is_line
from nlobayes.errors import InputError, one_line
from nlobayes.surrogate.answers import SUMMARIES


def check_names(inputs: Sequence[str], target: str) -> None:
    """Refuse names that no surrogate can have, or that predictions give to columns of their own.

    Raises
    ------
    InputError
        If there is one.
    """
    own = [
        *BESIDE_INPUTS,
        rf"(?:log10_)?{re.escape(target)}_(?:{'|'.join(SUMMARIES)}|q[\d.]+|draw_\d+)",
    ]
    for name in (*inputs, target):
        if not is_line(name):
            shown = one_line(repr(name), 80)
            raise InputError("commands.long_name", name=shown, longest=LONGEST)
    for name in inputs:
        if re.fullmatch("|".join(own), name):
            raise InputError("commands.name_of_predictions", name=name)
