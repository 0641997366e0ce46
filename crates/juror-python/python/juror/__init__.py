"""Tells whether a question-answering system or a tool-using agent is right."""

from . import aio
from ._bench import QueryDone, Tool, ToolPool, bench
from ._juror import __version__

__all__ = ["QueryDone", "Tool", "ToolPool", "__version__", "aio", "bench"]
