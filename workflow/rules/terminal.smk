# Output for users: a few lines that are replaced on a terminal, elsewhere a line per job; then
# failures with their logs, and at the end the verdict. .snakemake/log has all messages of
# Snakemake, and --printshellcmds or --verbose prints them.

import atexit
import logging
import os
import subprocess
import sys

from snakemake.logging import logger
from snakemake.settings.types import Quietness
from snakemake_interface_logger_plugins.common import LogEvent

from nlobayes.study.jobs_of_runs import SummaryJob
from nlobayes.study.job_builder import watch_job
from nlobayes.watching.live import BEGIN_AFTER, Progress, Terminal, Watcher, labelled
from nlobayes.workflow.planning import refused_target

UNSAID = {
    *(LogEvent.WORKFLOW_STARTED, LogEvent.RESOURCES_INFO, LogEvent.JOB_STARTED),
    *(LogEvent.JOB_INFO, LogEvent.JOB_FINISHED, LogEvent.PROGRESS, LogEvent.SHELLCMD),
}
CHATTER = (
    *("Assuming unrestricted", "Building DAG", "Using shell", "Conda environments:"),
    *("Group jobs: inactive", "Select jobs", "Adding ", "Created ", "Creating report"),
    "RuleException:\nCalledProcessError",  # its job is named in the next lines, with its log
)
FAILED_LOGS = []
PROGRAM = Path(sys.executable).with_name("nlobayes")
PROGRESS = None
WATCHERS = []


class InFewLines(logging.Filter):
    """Report the start and end of jobs to `Progress`; the log file has the details."""

    def filter(self, record):
        event = getattr(record, "event", None)
        if event is LogEvent.RUN_INFO:
            PROGRESS.jobs = record.stats["total"]
        elif event is LogEvent.PROGRESS:
            PROGRESS.done, PROGRESS.jobs = record.done, record.total
        elif event is LogEvent.JOB_INFO and record.shellcmd:
            line = f"{record.rule_name}  {name_job(record.wildcards)}"
            PROGRESS.started(record.jobid, line)
        elif event is LogEvent.JOB_FINISHED:
            PROGRESS.ended(record.job_id)
        elif event is LogEvent.JOB_ERROR:
            PROGRESS.ended(record.jobid)
            FAILED_LOGS.extend(record.log)
        return event not in UNSAID and not str(record.msg).startswith(CHATTER)


class ShortErrors(logging.Formatter):
    """Print for a failed job the path of its log, the log, and the report of its executor.

    A target that the study lacks is refused in one line.
    """

    def __init__(self, whole):
        super().__init__()
        self.whole = whole

    def format(self, record):
        if getattr(record, "event", None) is LogEvent.JOB_ERROR:
            # keep the message of the executor: Slurm states there why a job ended
            shown = {"msg": record.rule_msg or "", "shellcmd": None}
            hidden = {"input": [], "output": []}
            record = logging.makeLogRecord(record.__dict__ | shown | hidden)
        elif error := refused_target(str(record.msg), PLAN.study.grids):
            return f"nlobayes: error: {error}"
        return self.whole.format(record)


def name_job(wildcards):
    """Describe a job by its wildcards: labels as in the summary, numbers with their kind."""
    words = []
    for kind, value in (wildcards or {}).items():
        name, kind_in_words = PLAN.label_of(kind, value), kind.replace("_", " ")
        words.append(f"{kind_in_words} {name}" if name.isdigit() else name)
    return ", ".join(words)


def shorten_terminal():
    """Print only our own lines on the terminal, unless Snakemake's output was requested."""
    global PROGRESS
    shown = workflow.output_settings
    if shown.verbose or shown.printshellcmds:
        return
    for handler in logger.handlers:
        if workflow.is_main_process and handler.name == "DefaultStreamHandler":
            handler.setFormatter(ShortErrors(handler.formatter))
            if shown.dryrun:
                continue
            terminal = Terminal(handler.stream)
            PROGRESS = Progress(terminal)
            handler.addFilter(InFewLines())
            handler.setStream(terminal)
            atexit.register(end_progress)


def labelled_runs_of(jobs, *rules):
    """Label the runs that jobs of some rules are for."""
    requested = {job.wildcards.run for job in jobs if job.rule.name in rules}
    return labelled(PLAN.labels["run"], requested)


def watch_chains():
    """Report the progress of chains by another process, if chains run and the output is read."""
    runs = labelled_runs_of(workflow.dag.needrun_jobs(), "warmup", "draw")
    if PROGRESS and has_reader() and runs:
        spec = watch_job(PLAN.runs.values(), runs).model_dump_json()
        words = [str(PROGRAM), "watch", "--spec", "-"]
        WATCHERS.append(Watcher(words, spec, PROGRESS.report, BEGIN_AFTER))


def end_progress():
    """Remove the replaced lines before the verdict is printed."""
    for watcher in WATCHERS:
        watcher.stop()
    if PROGRESS:
        PROGRESS.end()


def evaluated_runs():
    """Label the runs whose scores belong to the requested targets."""
    return labelled_runs_of(workflow.dag.jobs, "evaluate")


def summarise(*options, **keywords):
    """Call `nlobayes summary` on the runs whose scores belong to the requested targets."""
    spec = SummaryJob(runs=evaluated_runs()).model_dump_json()
    words = [str(PROGRAM), "summary", "--spec", "-", *options]
    return subprocess.run(words, input=spec, text=True, **keywords)


def has_reader():
    """Return whether the output has a reader: no job of a cluster, and no `--quiet`."""
    return workflow.is_main_process and Quietness.ALL not in (
        workflow.output_settings.quiet or ()
    )


shorten_terminal()

if any(word.startswith("--report") for word in sys.argv):
    # the landing page of a report has access to the configuration only
    config["landing_page"] = lambda: summarise("--rst", stdout=subprocess.PIPE).stdout


onsuccess:
    end_progress()
    # `make run` writes the report first, and prints the summary afterwards
    if (
        has_reader()
        and os.environ.get("NLOBAYES_SUMMARY") != "later"
        and evaluated_runs()
    ):
        sys.stdout.flush()
        summarise()


onerror:
    end_progress()
    if has_reader():
        for path in dict.fromkeys(FAILED_LOGS):
            sys.stderr.write(f"a job failed; its log has the reason: {path}\n")
        sys.stderr.write(
            "correct the cause and run the same command again; finished jobs are kept\n"
        )
