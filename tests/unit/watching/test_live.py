"""Display of jobs: lines are replaced on a terminal and follow each other elsewhere."""

from __future__ import annotations

import io
import re
import sys

from nlobayes.watching.live import Progress, Terminal, Watcher

MOVES = re.compile(r"\x1b\[(\d+)F\x1b\[J")


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True

    def lines(self) -> list[str]:
        """Return the visible lines after all moves of the cursor."""
        shown: list[str] = []
        for part in re.split(r"(\x1b\[\d+F\x1b\[J)", self.getvalue()):
            if move := MOVES.fullmatch(part):
                del shown[-int(move[1]) :]
            else:
                shown += part.splitlines()
        return shown


def test_what_is_written_stands_above_the_lines_that_are_replaced() -> None:
    screen = Screen()
    terminal = Terminal(screen)
    terminal.show(["one", "two"])
    terminal.write("an error")
    assert screen.lines() == ["one", "two"]
    terminal.write("\n")
    terminal.show(["three"])
    assert screen.lines() == ["an error", "three"]


def test_a_terminal_shows_jobs_at_work_and_runs_and_then_nothing() -> None:
    screen = Screen()
    progress = Progress(Terminal(screen))
    progress.show()
    assert screen.lines() == []  # a report has no jobs
    progress.jobs = 27
    progress.started(1, "draw  tiny, chain group 0")
    progress.report("tiny: drawing, 2 chains, 10 of 40 draws\n")
    progress.report("tiny: drawing, 2 chains, 20 of 40 draws\n")
    progress.report("other: not begun\n")
    counted, jobs, run = screen.lines()
    assert counted.endswith(" 0 of 27 jobs")
    assert jobs == "at work: draw  tiny, chain group 0"
    assert run == "tiny: drawing, 2 chains, 20 of 40 draws"
    progress.ended(1)
    assert len(screen.lines()) == 2
    progress.end()
    assert screen.lines() == []


def test_elsewhere_there_is_a_line_for_each_job_and_each_change() -> None:
    file = io.StringIO()
    progress = Progress(Terminal(file))
    progress.jobs = 2
    progress.started(1, "draw  tiny")
    progress.report("tiny: drawing\n")
    progress.ended(1)
    progress.end()
    assert file.getvalue() == "  0:00  0 of 2  draw  tiny\n  0:00  0 of 2  tiny: drawing\n"


def test_a_watcher_gives_on_what_another_process_prints() -> None:
    reported: list[str] = []
    echo = "import sys; print(sys.stdin.read() + ': drawing', flush=True)"
    watcher = Watcher([sys.executable, "-c", echo], "tiny", reported.append, after=0)
    watcher._thread.join(timeout=60)
    assert reported == ["tiny: drawing\n"]
    watcher.stop()
