#!/usr/bin/env python3
"""Counts how often 95 % intervals hold the truth, on data that is made with a known one.

Runs `juror-timings coverage`: for templates with an intra-class correlation of 0 to 0.5, 8 to 60
templates, zeros and ones and fractions, it draws 2,000 data sets each and computes the interval of a
mean and of a difference as Juror does. The aim at 20 or more templates is 93 to 97 %.

Nothing here fails because an interval is wrong: the exit code is 0 unless a part could not be run.
"""

from __future__ import annotations

import subprocess
import sys

import harness
from harness import PROJECT

AIM = (0.93, 0.97)
ENOUGH = 20


def main() -> int:
    options = harness.option_parser(__doc__)
    options.add_argument("--data-sets", type=int, default=2000, help="of each kind (%(default)s)")
    number = options.parse_args().data_sets
    harness.build("juror-timings")
    command = [PROJECT / "target/release/juror-timings", "coverage", str(number)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    header, *rows = done.stdout.splitlines()
    print(f"{header}\taim")
    for row in rows:
        print(f"{row}\t{verdict(row)}")
    return 0


def verdict(row: str) -> str:
    """Whether the shares of a row are within the aim; nothing for few templates."""
    _, templates, _, *shares = row.split("\t")
    if int(templates) < ENOUGH:
        return "-"
    return "yes" if all(AIM[0] <= float(share) <= AIM[1] for share in shares) else "no"


if __name__ == "__main__":
    sys.exit(main())
