"""Time calls of one process of a bundle, or of all, each with another spectrum.

    python -m benchmarks.bundle_calls pairs model.slha --calls 1000
    python -m benchmarks.bundle_calls pairs model.slha --process 1000022 1000023 --jax
    python -m benchmarks.bundle_calls lhc model.slha --calls 50 --all 13000

CPU seconds of this process, without the load of the bundle. Masses differ from call to call by
millionths, so that no call repeats an earlier one. `--all` has the first call, which loads the
surrogates, beside the least time of the others. `--jax` times the compiled `as_jax` of all
outputs, given the values of a spectrum, without its compilation.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nlobayes import Bundle, Surrogate
from nlobayes.data.slha import key_of, spectrum_of
from nlobayes.surrogate.cross_section import point_of

MASS = re.compile(r"(?m)^(\s*[12]0000[0-9]{2}\s+)(\S+)")
"""The mass of a particle in block MASS."""


def main() -> None:
    """Print the CPU seconds of all calls."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("bundle", help="folder or name")
    parser.add_argument("slha", type=Path, help="a spectrum")
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--process", type=int, nargs=2, help="PDG numbers; by default the first")
    parser.add_argument("--jax", action="store_true", help="time the compiled function instead")
    parser.add_argument("--all", type=float, help="all processes at this energy in GeV")
    given = parser.parse_args()
    bundle, text = Bundle.load(given.bundle), given.slha.read_text()
    if given.all:
        spectra = [spectrum(text, number) for number in range(given.calls + 1)]
        seconds = [of_all(bundle, one, given.all) for one in spectra]
        print(f"first call {seconds[0]:.2f} s of CPU, others {min(seconds[1:]):.4f} s or more")
        return
    known = {entry.key: entry.name for entry in bundle.entries}
    at, energy = next(iter(known))
    process = key_of(given.process or at)
    if (process, energy) not in known:
        parser.error(f"the bundle has no {process} at {energy:g} GeV")
    surrogate = bundle.surrogates[known[process, energy]]
    spectra = [spectrum(text, number) for number in range(given.calls + 1)]
    if given.jax:
        took, medians = timed(compiled(surrogate), [values(surrogate, one) for one in spectra])
    else:
        took, medians = timed(
            lambda one: bundle.predict(one, [process], energy)[process].median, spectra
        )
    print(f"{given.calls} calls of {process}: {took:.2f} s of CPU, {medians} medians")


def of_all(bundle: Bundle, text: str, energy: float) -> float:
    """Give the CPU seconds of predicting all processes."""
    start = time.process_time()
    bundle.predict(text, energy=energy)
    return time.process_time() - start


def timed(call: Callable[[Any], float], points: Sequence[Any]) -> tuple[float, int]:
    """Give the CPU seconds of a call at every point but the first, and how many results differ."""
    call(points[0])
    start = time.process_time()
    results = {call(point) for point in points[1:]}
    return time.process_time() - start, len(results)


def compiled(surrogate: Surrogate) -> Callable[[np.ndarray], float]:
    """Compile median and 68 % interval of all outputs; the call gives the target's median."""
    import jax

    jax.config.update("jax_enable_x64", True)
    functions = [surrogate.as_jax(output=name) for name in surrogate.outputs]

    @jax.jit
    def predict(x: jax.Array) -> list[tuple[jax.Array, jax.Array]]:
        found = [function(x) for function in functions]
        return [(one.median, one.quantiles) for one in found]

    return lambda point: float(np.asarray(predict(point)[0][0])[0])


def values(surrogate: Surrogate, text: str) -> np.ndarray:
    """Take the inputs (1, input) of a surrogate from a spectrum."""
    return point_of(surrogate, spectrum_of(text, "SLHA", surrogate.inputs))


def spectrum(text: str, number: int) -> str:
    """Change the masses by so many millionths."""
    return MASS.sub(lambda found: f"{found[1]}{float(found[2]) * (1 + 1e-6 * number)!r}", text)


if __name__ == "__main__":
    main()
