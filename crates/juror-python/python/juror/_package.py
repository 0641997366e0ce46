"""Checks that the files of this package are complete and not overwritten.

On package indexes the name `juror` belongs to another project, and this package is `juror-eval`.
Both install a folder `juror`: in one environment they overwrite each other's files, and uninstalling
either removes files of both.
"""

from __future__ import annotations

import os
import sys

NAME = "juror-eval"
"""The name of the package on indexes."""

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def check() -> None:
    """Raises `ImportError` if another package overwrites this one, or did."""
    other = _other(os.path.dirname(_FOLDER))
    if other is not None:
        raise ImportError(
            f"{_FOLDER}: two packages have their files here: `{NAME}`, and `juror`, which is another's ({other})\n"
            f"  hint: pip uninstall --yes juror {NAME} && pip install {NAME}",
            name="juror",
        )
    if getattr(sys.modules["juror"], "__distribution__", None) != NAME:
        raise _incomplete("`__init__.py` is another's or missing")
    if not any(name.startswith("_juror.") and name.endswith((".so", ".pyd")) for name in os.listdir(_FOLDER)):
        raise _incomplete("the engine `_juror` is missing")


def _incomplete(why: str) -> ImportError:
    words = f"{_FOLDER}: this is not the whole of `{NAME}`: {why}"
    return ImportError(f"{words}\n  hint: pip install --force-reinstall --no-deps {NAME}", name="juror")


def _other(site: str) -> str | None:
    """Returns the metadata folder of another package that uses the same folder."""
    for entry in os.listdir(site):
        name, _, rest = entry.lower().partition("-")
        if name == "juror" and rest.endswith((".dist-info", ".egg-info")) and _has_files(os.path.join(site, entry)):
            return entry
    return None


def _has_files(known: str) -> bool:
    """Returns whether a package has files in the folder; assumes so if it does not list them."""
    try:
        with open(os.path.join(known, "RECORD"), encoding="utf-8") as record:
            return any(line.startswith("juror/") for line in record)
    except OSError:
        return True
