"""Numbers of any size, and those that JSON does not have."""

from __future__ import annotations

from typing import Any

import juror
import pytest

LARGE = 123456789012345678901


def step(output: Any, **more: Any) -> dict[str, Any]:
    return {"name": "count", "id": "s1", "status": "success", "output": output, **more}


@pytest.mark.parametrize(
    ("expected", "actual", "score"),
    [
        ({"id": LARGE}, {"id": LARGE}, 1.0),
        ({"id": LARGE}, {"id": LARGE + 1}, 0.0),
        ({"id": 10**22}, {"id": 1e22}, 1.0),
        ([1, 2], [1.0, 2.0], 1.0),
    ],
)
def test_large_numbers_compare_exactly(expected: Any, actual: Any, score: float) -> None:
    media_type = {"output_media_type": "application/json"}
    assert juror.match_steps([[step(expected, **media_type)]], [step(actual)])[0] == score


def test_large_ids_of_documents_compare_exactly() -> None:
    assert juror.recall_at_k([LARGE], [LARGE]) == 1.0
    assert juror.recall_at_k([LARGE], [LARGE + 1]) == 0.0
    assert juror.average_precision([LARGE, 1], [LARGE + 1, 1.0]) == 0.25
