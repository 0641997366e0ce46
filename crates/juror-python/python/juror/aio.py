"""The same verbs to be awaited."""

from ._bench.aio import bench

__all__ = ["bench"]
