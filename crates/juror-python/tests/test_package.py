"""The package beside another of the name `juror`, in environments of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest


class Environment:
    """A virtual environment that pip of this one installs into."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder)
        self.bin = folder / ("Scripts" if os.name == "nt" else "bin")

    def pip(self, *arguments: object) -> None:
        words = [sys.executable, "-m", "pip", "--python", self.bin / "python", *arguments]
        done = subprocess.run([*map(str, words), "--quiet"], capture_output=True, text=True, env=clean())
        assert done.returncode == 0, done.stderr

    def run(self, *words: str) -> tuple[int, str]:
        """The exit code of a program, and all it says."""
        program = [str(self.bin / words[0]), *words[1:]]
        done = subprocess.run(program, capture_output=True, text=True, env=clean())
        return done.returncode, done.stdout + done.stderr


def clean() -> dict[str, str]:
    """The environment without the tools of the tests."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


@pytest.fixture
def ours() -> Path:
    if "JUROR_WHEEL" not in os.environ:
        pytest.skip("the wheel is not at hand")
    return Path(os.environ["JUROR_WHEEL"])


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A package that is called `juror` and has a folder of that name."""
    about = "Metadata-Version: 2.1\nName: juror\nVersion: 9.9\n"
    wheel = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files = {
        "juror/__init__.py": "is_another = True\n",
        "juror/dashboard.py": "",
        "juror-9.9.dist-info/METADATA": about,
        "juror-9.9.dist-info/WHEEL": wheel,
    }
    path = tmp_path / "juror-9.9-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr("juror-9.9.dist-info/RECORD", "".join(f"{name},,\n" for name in files))
    return path


def test_another_package_of_the_name_is_told_of(ours: Path, theirs: Path, tmp_path: Path) -> None:
    place = Environment(tmp_path / "place")
    place.pip("install", "--no-index", theirs)
    place.pip("install", "--no-index", ours)
    # Ours lies over theirs.
    in_the_way = "two packages have their files here: `juror-eval`, and `juror`, which is another's (juror-9.9.dist-info)"
    hint = "hint: pip uninstall --yes juror juror-eval && pip install juror-eval"
    for words in (["python", "-c", "import juror"], ["python", "-m", "juror", "demo"], ["juror", "demo"]):
        code, said = place.run(*words)
        assert code != 0 and f"ImportError: {place_of(said)}: {in_the_way}\n  {hint}" in said
    # Theirs lies over ours.
    place.pip("install", "--no-index", "--force-reinstall", theirs)
    assert place.run("python", "-c", "import juror; juror.is_another") == (0, "")
    for words in (["python", "-c", "import juror.aio"], ["python", "-m", "juror", "demo"], ["juror", "demo"]):
        code, said = place.run(*words)
        assert code != 0 and f"{in_the_way}\n  {hint}" in said, words
    # Theirs was removed, and with it what it had replaced of ours.
    place.pip("uninstall", "--yes", "juror")
    for words in (["python", "-c", "import juror.aio"], ["juror", "demo"]):
        code, said = place.run(*words)
        assert code != 0 and "this is not the whole of `juror-eval`: `__init__.py` is another's or missing" in said
        assert "hint: pip install --force-reinstall --no-deps juror-eval" in said
    place.pip("install", "--no-index", "--force-reinstall", ours)
    assert place.run("python", "-m", "juror", "demo")[0] == 0


def place_of(said: str) -> str:
    """The folder that an error names."""
    return said.split("ImportError: ")[1].split(": two packages")[0]
