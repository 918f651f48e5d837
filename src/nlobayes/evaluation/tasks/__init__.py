"""The tasks, regression and classification, each with its scores, baselines, checks and tables.

The modules take and return arrays and values; they do not access files.
"""

from nlobayes.errors import InputError
from nlobayes.evaluation.tasks import classification, regression
from nlobayes.evaluation.tasks.task import Task
from nlobayes.types import Dataset

TASKS: tuple[Task, ...] = (regression, classification)


def task_of(data: Dataset) -> Task:
    """Find the task of a dataset by the scale of its target.

    Raises InputError if no task has this scale.
    """
    scale = data.transforms["target"]["scale"]
    for task in TASKS:
        if scale in task.SCALES:
            return task
    known = [scale for task in TASKS for scale in task.SCALES]
    raise InputError("evaluation.no_task", scale=scale, known=known)
