"""``juror.bench`` and ``juror.ask``: agents, virtual tools, and what becomes of questions."""

from .ask import ask
from .attempt import Attempt, AttemptLost
from .dispatch import Runner
from .progress import QueryDone, QuestionDone
from .run import bench
from .tools import Tool, ToolPool

__all__ = [
    "Attempt",
    "AttemptLost",
    "QueryDone",
    "QuestionDone",
    "Runner",
    "Tool",
    "ToolPool",
    "ask",
    "bench",
]
