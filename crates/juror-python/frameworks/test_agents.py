"""Agents of frameworks, written as their users write them, with Juror's tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Check = Callable[[Any], None]


def test_langgraph(check: Check) -> None:
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI

    def langgraph(query: str, tools: Any) -> str:
        agent = create_agent(ChatOpenAI(model="gpt-4o-mini"), [tool.as_langchain() for tool in tools.values()])
        return agent.invoke({"messages": [("user", query)]})["messages"][-1].content

    check(langgraph)


def test_langgraph_async(check: Check) -> None:
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI

    async def langgraph_async(query: str, tools: Any) -> str:
        agent = create_agent(ChatOpenAI(model="gpt-4o-mini"), [tool.as_langchain() for tool in tools.values()])
        return (await agent.ainvoke({"messages": [("user", query)]}))["messages"][-1].content

    check(langgraph_async)


def test_a_graph_of_langgraph(check: Check) -> None:
    from langchain_openai import ChatOpenAI
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode, tools_condition

    def langgraph_graph(query: str, tools: Any) -> str:
        own = [tool.as_langchain() for tool in tools.values()]
        model = ChatOpenAI(model="gpt-4o-mini").bind_tools(own)
        graph = StateGraph(MessagesState)
        graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
        graph.add_node("tools", ToolNode(own))
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", tools_condition)
        graph.add_edge("tools", "model")
        return graph.compile().invoke({"messages": [("user", query)]})["messages"][-1].content

    check(langgraph_graph)


def test_openai_agents_sdk(check: Check) -> None:
    from agents import Agent, Runner

    async def openai_agents(query: str, tools: Any) -> str:
        agent = Agent(name="gardener", model="gpt-4o-mini", tools=[tool.as_agents_sdk() for tool in tools.values()])
        return (await Runner.run(agent, query)).final_output

    check(openai_agents)


def test_pydantic_ai(check: Check) -> None:
    from pydantic_ai import Agent

    async def pydantic_ai(query: str, tools: Any) -> str:
        agent = Agent("openai:gpt-4o-mini", tools=[tool.as_pydantic_ai() for tool in tools.values()])
        return (await agent.run(query)).output

    check(pydantic_ai)


def test_pydantic_ai_sync(check: Check) -> None:
    from pydantic_ai import Agent

    def pydantic_ai_sync(query: str, tools: Any) -> str:
        agent = Agent("openai:gpt-4o-mini", tools=[tool.as_pydantic_ai() for tool in tools.values()])
        return agent.run_sync(query).output

    check(pydantic_ai_sync)


def test_smolagents(check: Check) -> None:
    from smolagents import OpenAIServerModel, ToolCallingAgent

    def smolagents(query: str, tools: Any) -> str:
        model = OpenAIServerModel(model_id="gpt-4o-mini")
        agent = ToolCallingAgent(tools=[tool.as_smolagents() for tool in tools.values()], model=model)
        return str(agent.run(query))

    check(smolagents)


def test_llama_index(check: Check) -> None:
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.llms.openai import OpenAI

    async def llama_index(query: str, tools: Any) -> str:
        agent = FunctionAgent(llm=OpenAI(model="gpt-4o-mini"), tools=[tool.as_llama_index() for tool in tools.values()])
        return str(await agent.run(query))

    check(llama_index)


def test_openai(check: Check) -> None:
    import json

    from openai import OpenAI

    def openai(query: str, tools: Any) -> str:
        client, messages = OpenAI(), [{"role": "user", "content": query}]
        while True:
            own = [tool.as_openai() for tool in tools.values()]
            said = client.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=own).choices[0].message
            if not said.tool_calls:
                return said.content or ""
            messages.append(said)
            for call in said.tool_calls:
                reply = tools[call.function.name](**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(reply)})

    check(openai)
