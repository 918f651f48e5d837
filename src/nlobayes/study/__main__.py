"""Check of studies without Snakemake: `python -m nlobayes.study mine.yaml` in the project's root.

Snakemake executes a template that is given with `--configfile` before any code of the project can
check it. This module reads the study as data, so it is safe for a study from an unknown source.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from nlobayes.errors import InputError
from nlobayes.study.study import load_study, override, read_presets
from nlobayes.study.yaml_files import read_study

CONFIG = Path("config")


def main(words: Sequence[str]) -> int:
    """Validate each study on top of the presets and the default study."""
    try:
        default = override(read_presets(CONFIG / "presets"), read_study(CONFIG / "config.yaml"))
        for word in words:
            study = load_study(override(default, read_study(Path(word))))
            runs = sum(1 for grid in study.targets for _ in study.runs(grid))
            sys.stdout.write(f"{word}: a valid study of {runs} runs\n")
            for file in sorted({code.file for code in study.codes}):
                sys.stdout.write(f"{word}: runs the code of {file}: read it first\n")
    except InputError as error:
        sys.stderr.write(f"nlobayes: error: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
