"""Tells whether a question-answering system or a tool-using agent is right."""

from ._juror import __version__

__all__ = ["__version__"]
