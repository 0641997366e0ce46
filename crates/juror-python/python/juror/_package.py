"""Whether the files of this package are all there, and no others over them.

On indexes the name `juror` is somebody else's, and this package is `juror-eval`. Both are a folder
`juror`: in one environment the files of the one lie over those of the other, and removing either
takes files of both.
"""

from __future__ import annotations

import os
import sys

NAME = "juror-eval"
"""What the package is called on indexes."""

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def check() -> None:
    """Raises `ImportError` if another package is in the way, or was."""
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
    """What is known of another package that has the same folder."""
    for entry in os.listdir(site):
        name, _, rest = entry.lower().partition("-")
        if name == "juror" and rest.endswith((".dist-info", ".egg-info")) and _has_files(os.path.join(site, entry)):
            return entry
    return None


def _has_files(known: str) -> bool:
    """Whether a package has files in the folder, as far as it says what it has."""
    try:
        with open(os.path.join(known, "RECORD"), encoding="utf-8") as record:
            return any(line.startswith("juror/") for line in record)
    except OSError:
        return True
