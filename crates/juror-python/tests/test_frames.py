"""Results as tables."""

from __future__ import annotations

import json
from typing import Any

import pytest

import juror

Data = Any


@pytest.fixture
def results(reference: Data, responses: Data) -> list[Data]:
    return juror.run_evaluation(reference, responses)


def test_a_table_needs_no_library(results: list[Data]) -> None:
    table = juror.to_arrow(results)
    assert len(table) == table.num_rows == 2
    assert table.column_names[:3] == ["template_id", "question_id", "question_text"]
    columns = table.to_pydict()
    assert columns["steps_score"] == [1.0, None]
    assert columns["input_tokens"] == [10, None]
    assert columns["error"] == [None, "timeout"]
    assert json.loads(columns["actual_steps"][0]) == results[0]["actual_steps"]
    assert "2 rows" in repr(table)
    assert len(juror.to_arrow([])) == 0
    with pytest.raises(TypeError, match="result 0"):
        juror.to_arrow([5])  # type: ignore[list-item]


def test_columns_hold_what_fits_all_values() -> None:
    rows = [{"a": 1, "b": True, "c": 1, "d": 2**70, "e": "é\ud800"}, {"a": 2.5, "c": "x", "f": [1]}]
    columns = juror.to_arrow(rows).to_pydict()
    assert columns["a"] == [1.0, 2.5]
    assert columns["b"] == [True, None]
    assert columns["c"] == ["1", "x"]
    assert columns["d"] == [float(2**70), None]
    assert columns["f"] == [None, "[1]"]


def test_metrics_of_steps_are_columns() -> None:
    recall, cost = "retrieval_context_recall", "retrieval_context_recall_cost"
    steps = [{"name": "retrieval", recall: 1, cost: 0.5}, {"name": "other"}, {"name": "retrieval", recall: 0.5, cost: 0.25}]
    results: list[Data] = [
        {"question_id": "a", "actual_steps": []},
        {"question_id": "b", "actual_steps": steps, "steps_score": 1.0},
        {"question_id": "c"},
    ]
    table = juror.to_arrow(results)
    assert table.column_names == ["question_id", "actual_steps", "steps_score", recall, cost]
    columns = table.to_pydict()
    assert columns[recall] == [None, 0.75, None]
    assert columns[cost] == [None, 0.75, None]
    # A number of the result itself is not covered by those of its steps.
    mine = juror.to_arrow([{recall: 0.1, "actual_steps": steps}]).to_pydict()
    assert mine[recall] == [0.1]


def test_pyarrow_takes_the_table(results: list[Data]) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = juror.to_arrow(results)
    for _ in range(2):
        taken = pyarrow.table(table)
        assert taken.to_pydict() == table.to_pydict()
    assert str(taken.schema.field("input_tokens").type) == "int64"
    table.__arrow_c_stream__()  # a stream that nobody reads is freed


def test_pandas_and_polars(results: list[Data]) -> None:
    pandas = pytest.importorskip("pandas")
    frame = juror.to_pandas(results)
    assert frame.shape == (2, len(juror.to_arrow(results).column_names))
    assert frame["steps_score"][0] == 1.0 and pandas.isna(frame["steps_score"][1])


def test_polars(results: list[Data]) -> None:
    pytest.importorskip("polars")
    frame = juror.to_polars(results)
    assert frame["status"].to_list() == ["success", "error"]
    assert frame["input_tokens"].to_list() == [10, None]
