"""Time calls of one process of a bundle, each with another spectrum.

    python -m benchmarks.bundle_calls pairs model.slha --calls 1000

CPU seconds of this process, without the load of the bundle. Masses differ from call to call by
millionths, so that no call repeats an earlier one.
"""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path

from nlobayes import Bundle

MASS = re.compile(r"(?m)^(\s*1000022\s+)(\S+)")
"""The mass of the lightest neutralino in block MASS."""


def main() -> None:
    """Print the CPU seconds of all calls."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("bundle", help="folder or name")
    parser.add_argument("slha", type=Path, help="a spectrum")
    parser.add_argument("--calls", type=int, default=1000)
    given = parser.parse_args()
    bundle, text = Bundle.load(given.bundle), given.slha.read_text()
    process, energy = next(iter(bundle.surrogates))
    spectra = [spectrum(text, number) for number in range(given.calls)]
    bundle.predict(text, [process], energy)
    start = time.process_time()
    medians = {bundle.predict(one, [process], energy)[process].median for one in spectra}
    took = time.process_time() - start
    print(f"{given.calls} calls of {process}: {took:.2f} s of CPU, {len(medians)} medians")


def spectrum(text: str, number: int) -> str:
    """Change the mass by so many millionths."""
    return MASS.sub(lambda found: f"{found[1]}{float(found[2]) * (1 + 1e-6 * number)!r}", text)


if __name__ == "__main__":
    main()
