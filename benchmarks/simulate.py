"""Seconds for the default simulated dataset: 15 000 points at three scales, luminosities included.

Run as `python benchmarks/simulate.py`.
"""

from time import perf_counter

from nlobayes.data.simulators.simulate import Settings, scan_table

if __name__ == "__main__":
    start = perf_counter()
    scan_table(1, 15_000, Settings(sqrt_s_tev=13.0, squark_mass_gev=3000.0))
    print(f"{perf_counter() - start:.2f} s")
