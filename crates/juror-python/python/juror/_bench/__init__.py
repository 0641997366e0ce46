"""Benchmarking agents that are Python objects."""

from .progress import QueryDone
from .run import bench
from .tools import Tool, ToolPool

__all__ = ["QueryDone", "Tool", "ToolPool", "bench"]
