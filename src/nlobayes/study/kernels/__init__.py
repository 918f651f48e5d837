"""The settings of the kernels, one file each, by name."""

from typing import TYPE_CHECKING

from nlobayes.settings.members import one_of_kinds, settings_of
from nlobayes.study.kernel import KernelSettings

KERNELS = settings_of(__name__, __file__, KernelSettings)

if TYPE_CHECKING:
    Kernel = KernelSettings
else:
    Kernel = one_of_kinds(KERNELS.values())
