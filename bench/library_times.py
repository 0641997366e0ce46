"""Times single parts of the Python library from inside one process.

usage: library_times.py yaml REFERENCE
       library_times.py aggregates RESULTS TIMES

`yaml` loads a file with PyYAML's safe loader, which the library uses, and with the faster one
written in C, which it does not use. `aggregates` loads results (JSON), repeats them TIMES times in
memory, and aggregates them. Prints lines of the form `name: value`; times are in seconds.
"""

import json
import sys
import time
from collections.abc import Callable


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def time_yaml(path: str) -> None:
    import yaml

    def load(loader: type) -> None:
        with open(path, encoding="utf-8") as file:
            yaml.load(file, loader)

    print(f"seconds: {timed(lambda: load(yaml.SafeLoader)):.6f}")
    if hasattr(yaml, "CSafeLoader"):
        print(f"seconds of the loader in C: {timed(lambda: load(yaml.CSafeLoader)):.6f}")


def time_aggregates(path: str, times: str) -> None:
    from graphrag_eval import compute_aggregates

    start = time.perf_counter()
    with open(path, encoding="utf-8") as file:
        results = json.load(file)
    print(f"seconds to load: {time.perf_counter() - start:.6f}")
    repeated = results * int(times)
    print(f"results: {len(repeated)}")
    print(f"seconds: {timed(lambda: compute_aggregates(repeated)):.6f}")


if __name__ == "__main__":
    {"yaml": time_yaml, "aggregates": time_aggregates}[sys.argv[1]](*sys.argv[2:])
