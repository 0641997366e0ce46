"""The modules of frameworks in docs/agents.md, run as they stand there.

Each block below a framework's name is written to a file, and asked by `python:my_agent:answer` beside
an agent as users of that framework write it, with one tool.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import juror
import pytest

PAGE = Path(__file__).resolve().parents[3] / "docs/agents.md"

TOOL = '''
def current(garden: str) -> str:
    """Return the weather of a garden.

    Args:
        garden: The name of the garden.
    """
    return f"11.5 celsius in {garden}"
'''

OWN = {
    "LangGraph and LangChain": (
        "my_graph",
        """
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
graph = create_agent(ChatOpenAI(model="gpt-4o-mini"), [tool(current)])
""",
    ),
    "OpenAI Agents SDK": (
        "my_agents",
        """
from agents import Agent, function_tool
agent = Agent(name="gardener", model="gpt-4o-mini", tools=[function_tool(current)])
""",
    ),
    "pydantic-ai": (
        "my_agent_module",
        """
from pydantic_ai import Agent
agent = Agent("openai:gpt-4o-mini", tools=[current])
""",
    ),
    "smolagents": (
        "my_agent_module",
        """
from smolagents import OpenAIServerModel, ToolCallingAgent, tool
agent = ToolCallingAgent(tools=[tool(current)], model=OpenAIServerModel(model_id="gpt-4o-mini"))
""",
    ),
    "LlamaIndex": (
        "my_agent_module",
        """
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai import OpenAI
agent = FunctionAgent(llm=OpenAI(model="gpt-4o-mini"), tools=[current])
""",
    ),
}
"""For each framework of the page, the module that its block imports the user's agent from, and that agent."""

VARIABLES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_AGENTS_DISABLE_TRACING", "PATH")


def blocks() -> dict[str, str]:
    """The blocks of the page, by the framework whose name stands before them."""
    page = PAGE.read_text(encoding="utf-8")
    section = page[page.index("### Frameworks") : page.index("## Servers")]
    found = re.findall(r"\*\*(.+?)\.\*\* .+?\n\n```python[^\n]*\n(.*?)```", section, re.DOTALL)
    return dict(found)


def test_every_framework_of_the_page_is_tried() -> None:
    assert list(blocks()) == list(OWN)


@pytest.mark.parametrize("framework", [name for name in OWN if name != "LlamaIndex"])
def test_a_documented_module_answers(framework: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(framework, tmp_path, monkeypatch)


def test_the_documented_module_of_llama_index_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check("LlamaIndex", tmp_path, monkeypatch)


def check(framework: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asks the module of the page, and looks at what it tells of its call."""
    module, own = OWN[framework]
    (folder / f"{module}.py").write_text(TOOL + own)
    (folder / "my_agent.py").write_text(blocks()[framework])
    # The command starts the `python3` of the path: that of the environment that has the framework.
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    question = {"id": "q", "question_text": "How warm is it in Thornfold?"}
    (folder / "reference.json").write_text(json.dumps([{"template_id": "t", "questions": [question]}]))
    (response,) = juror.ask("reference.json", "python:my_agent:answer", agent_env=VARIABLES)
    assert response.get("error") is None, response
    assert "This is what the tools say. " in response["actual_answer"] and "11.5" in response["actual_answer"]
    (step,) = [one for one in response["actual_steps"] if one["name"] == "current"]
    assert step["args"] == {"garden": "Thornfold"} and "11.5 celsius" in str(step["output"])
