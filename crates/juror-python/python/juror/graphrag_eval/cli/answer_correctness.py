"""``python -m juror.graphrag_eval.cli.answer_correctness -i answers.tsv -o judged.tsv -c settings.yaml``"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

__all__ = ["main", "run"]

_Path = str | os.PathLike[str]


def run(config_yaml_file_path: _Path, input_tsv_file_path: _Path, output_tsv_file_path: _Path) -> None:
    """Judges the answers of a table by their claims; raises `ValueError` if that is not possible."""
    judge_table(input_tsv_file_path, output_tsv_file_path, config_yaml_file_path, "6")


def judge_table(table: _Path, output: _Path, config: _Path | None, profile: str) -> None:
    """Has `juror answer-correctness` judge a table."""
    Path(output).parent.mkdir(parents=True, exist_ok=True)
    settings = [] if config is None else ["-c", os.fspath(config)]
    arguments = ["-i", os.fspath(table), "-o", os.fspath(output), "--profile", profile, *settings]
    # A process of its own: the program handles signals itself.
    done = subprocess.run(
        [sys.executable, "-m", "juror", "answer-correctness", *arguments], stderr=subprocess.PIPE, text=True
    )
    if done.returncode != 0:
        raise ValueError(done.stderr.strip() or f"exit code {done.returncode}")


def main() -> None:
    """The command, with the library's options, which are also those of `juror answer-correctness`."""
    from ...__main__ import main as program

    sys.argv[1:1] = ["answer-correctness"]
    sys.exit(program())


if __name__ == "__main__":
    main()
