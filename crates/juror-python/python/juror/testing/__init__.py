"""Juror in a test suite.

    from juror.testing import assert_answers, virtual_tools

    def test_answers():
        assert_answers("responses.jsonl", "reference.yaml", steps_score=0.9, baseline="runs/main")

    def test_agent():
        with virtual_tools(tools="tools", cache="tool_cache") as tools:
            assert my_agent(tools.url).answer("When is the garden open?")

Both work with any test runner. For pytest, `juror.testing.plugin` has the tools as a fixture.
"""

from ._answers import assert_answers
from ._served import VirtualTools, virtual_tools

__all__ = ["VirtualTools", "assert_answers", "virtual_tools"]
