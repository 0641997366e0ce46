"""``juror.bench`` and ``juror.ask``: agents, virtual tools, and what becomes of questions."""

from .ask import ask
from .progress import QueryDone, QuestionDone
from .run import bench
from .tools import Tool, ToolPool

__all__ = ["QueryDone", "QuestionDone", "Tool", "ToolPool", "ask", "bench"]
