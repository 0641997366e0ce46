"""The harmonic mean of recall and precision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["compute_f1", "get_f1_dict"]


def compute_f1(recall: float | str | None, precision: float | str | None) -> float | None:
    """Returns the harmonic mean, or `None` if one of the two is missing."""
    if recall is None or precision is None:
        return None
    total = float(recall) + float(precision)
    return 2 * float(recall) * float(precision) / total if total else 0.0


def get_f1_dict(input_dict: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Returns `…_f1` of `…_recall` and `…_precision`, and `…_f1_cost` if both have a cost."""
    f1 = compute_f1(input_dict.get(f"{prefix}_recall"), input_dict.get(f"{prefix}_precision"))
    if f1 is None:
        return {}
    costs = [input_dict.get(f"{prefix}_{name}_cost") for name in ("recall", "precision")]
    known = [cost for cost in costs if cost is not None]
    return {f"{prefix}_f1": f1} | ({f"{prefix}_f1_cost": sum(known)} if len(known) == 2 else {})
