"""The settings of the methods, one file each, by name."""

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator

from nlobayes.settings.members import one_of_kinds, settings_of
from nlobayes.study.method import MethodSettings

METHODS = settings_of(__name__, __file__, MethodSettings)
CHAINS = "mcmc"


def _of_chains_by_default(value: Any) -> Any:
    """Read settings without a kind as those of chains."""
    return {"kind": CHAINS, **value} if isinstance(value, dict) else value


if TYPE_CHECKING:
    Method = MethodSettings
    Approximation = MethodSettings
else:
    Approximation = one_of_kinds(each for each in METHODS.values() if each.approximate)
    Method = Annotated[one_of_kinds(METHODS.values()), BeforeValidator(_of_chains_by_default)]
