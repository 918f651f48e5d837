# What a person reads: a line per job while it runs, failures with their logs, and at the end the
# verdict. .snakemake/log keeps every word, and --printshellcmds or --verbose show it all.

import logging
import os
import subprocess
import sys
import time

from snakemake.logging import logger
from snakemake.settings.types import Quietness
from snakemake_interface_logger_plugins.common import LogEvent

from nlobayes.study.jobs_of_runs import SummaryJob

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


class OneLinePerJob(logging.Filter):
    """Write a line for each job, in place of what the log file says at length."""

    def __init__(self, stream):
        super().__init__()
        self.stream, self.began = stream, time.monotonic()
        self.done, self.jobs = 0, 0

    def filter(self, record):
        event = getattr(record, "event", None)
        if event is LogEvent.RUN_INFO:
            self.jobs = record.stats["total"]
        elif event is LogEvent.PROGRESS:
            self.done = record.done
        elif event is LogEvent.JOB_INFO and record.shellcmd:
            self.write(f"{record.rule_name}  {name_job(record.wildcards)}")
        elif event is LogEvent.JOB_ERROR:
            FAILED_LOGS.extend(record.log)
        return event not in UNSAID and not str(record.msg).startswith(CHATTER)

    def write(self, job):
        minutes, seconds = divmod(int(time.monotonic() - self.began), 60)
        done = f"{self.done:{len(str(self.jobs))}} of {self.jobs}"
        self.stream.write(f"{minutes:3}:{seconds:02}  {done}  {job}\n")
        self.stream.flush()


class ShortErrors(logging.Formatter):
    """Tell of a job that failed where its log is and what stands there, not its command."""

    def __init__(self, whole):
        super().__init__()
        self.whole = whole

    def format(self, record):
        if getattr(record, "event", None) is LogEvent.JOB_ERROR:
            unsaid = {"msg": "", "input": [], "output": [], "shellcmd": None}
            record = logging.makeLogRecord(record.__dict__ | unsaid)
        return self.whole.format(record)


def name_job(wildcards):
    """Call what a job is for as the summary does, and its segments by their numbers."""
    said = []
    for kind, value in (wildcards or {}).items():
        name, kind_in_words = PLAN.label_of(kind, value), kind.replace("_", " ")
        said.append(f"{kind_in_words} {name}" if name.isdigit() else name)
    return ", ".join(said)


def shorten_terminal():
    """Leave the terminal to people, where nobody asked for all that Snakemake says."""
    shown = workflow.output_settings
    if shown.dryrun or shown.verbose or shown.printshellcmds:
        return
    for handler in logger.handlers:
        if workflow.is_main_process and handler.name == "DefaultStreamHandler":
            handler.addFilter(OneLinePerJob(handler.stream))
            handler.setFormatter(ShortErrors(handler.formatter))


def evaluated_runs():
    """Label the runs whose scores belong to what was asked for."""
    asked = {
        job.wildcards.run for job in workflow.dag.jobs if job.rule.name == "evaluate"
    }
    return {run: label for run, label in PLAN.labels["run"].items() if run in asked}


def summarise(*options, **keywords):
    """Call `nlobayes summary` on the runs whose scores belong to what was asked for."""
    spec = SummaryJob(runs=evaluated_runs()).model_dump_json()
    program = Path(sys.executable).with_name("nlobayes")
    words = [str(program), "summary", "--spec", "-", *options]
    return subprocess.run(words, input=spec, text=True, **keywords)


def is_told():
    """Say whether someone reads this: no job of a cluster, and nobody who asked for silence."""
    return workflow.is_main_process and Quietness.ALL not in (
        workflow.output_settings.quiet or ()
    )


shorten_terminal()

if any(word.startswith("--report") for word in sys.argv):
    # all that the first page of a report is told is the configuration
    config["landing_page"] = lambda: summarise("--rst", stdout=subprocess.PIPE).stdout


onsuccess:
    # `make run` writes the report first, and has the summary printed when that is done
    if (
        is_told()
        and os.environ.get("NLOBAYES_SUMMARY") != "later"
        and evaluated_runs()
    ):
        sys.stdout.flush()
        summarise()


onerror:
    if is_told():
        for path in dict.fromkeys(FAILED_LOGS):
            sys.stderr.write(f"a job failed; its log says why: {path}\n")
        sys.stderr.write(
            "mend the cause and call the same again: what is done is kept\n"
        )
