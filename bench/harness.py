"""What the benchmark scripts share: the project's folder, their options, and building programs."""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent


def option_parser(documentation: str | None) -> argparse.ArgumentParser:
    """A parser whose help is a script's docstring."""
    summary, _, details = (documentation or "").partition("\n\n")
    return argparse.ArgumentParser(
        description=summary, epilog=details, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def build(*packages: str) -> None:
    """Builds packages for release."""
    selected = [word for package in packages for word in ("-p", package)]
    subprocess.run(["cargo", "build", "--release", "--quiet", *selected], cwd=PROJECT, check=True)
