"""What the benchmark scripts share: the project's folder, their options, building, and telling figures."""

from __future__ import annotations

import argparse
import os
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


def juror() -> Path:
    """The program that was built, wherever cargo puts it."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", PROJECT / "target"))
    return target / "release/juror"


def tell(what: str, value: float, unit: str, budget: float | None = None) -> None:
    """Prints a figure, and whether it keeps to its budget."""
    shown = f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"
    aim = "" if budget is None else f"budget {budget:g} {unit}  {'met' if value <= budget else 'MISSED'}"
    print(f"  {what:44} {shown:>10} {unit:3} {aim}".rstrip(), flush=True)
