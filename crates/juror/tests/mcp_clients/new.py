"""The official Python client of the second generation: with and without a handshake."""

import asyncio
import json

from mcp import Client, StdioServerParameters

from shared import JUROR, THORNFOLD, TOOLS, URL, WEATHER, check_foreign_origin, check_recorded, open_query


async def look_around(server, mode, revision):
    async with Client(server, mode=mode) as client:
        assert client.protocol_version == revision, client.protocol_version
        tools = (await client.list_tools()).tools
        assert len(tools) == 7 and WEATHER in [tool.name for tool in tools]
        known = await client.call_tool(WEATHER, {"garden": "Thornfold"})
        assert json.loads(known.content[0].text) == THORNFOLD and not known.is_error
        unknown = await client.call_tool(WEATHER, {"garden": "Nowhere"})
        assert unknown.is_error and "No reply" in unknown.content[0].text


async def search(server, mode):
    async with Client(server, mode=mode) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == ["search_tools", "call_tool"], names
        found = await client.call_tool("search_tools", {"query": "weather in a garden", "k": 3})
        found = json.loads(found.content[0].text)
        assert WEATHER in [tool["name"] for tool in found] and len(found) == 3
        called = {"name": WEATHER, "arguments": {"garden": "Thornfold"}}
        called = await client.call_tool("call_tool", called)
        assert json.loads(called.content[0].text) == THORNFOLD
        wrong = await client.call_tool("call_tool", {"name": "none", "arguments": {}})
        assert wrong.is_error


async def main():
    check_foreign_origin()
    command = lambda *more: StdioServerParameters(command=JUROR, args=[*TOOLS, *more])
    for mode, revision in [("auto", "2026-07-28"), ("2026-07-28", "2026-07-28"), ("legacy", "2025-11-25")]:
        await look_around(URL + "/mcp", mode, revision)
        await look_around(command(), mode, revision)
        await search(URL + "/mcp?tools=search", mode)
        await search(command("--mcp-tools", "search"), mode)
        address, calls = open_query(f"new-{mode}")
        await look_around(address, mode, revision)
        check_recorded(calls())
        bridge = StdioServerParameters(command=JUROR, args=["mcp", "--at", address])
        await look_around(bridge, mode, revision)
        assert len(calls()) == 4
        print(f"Python mcp 2.3.0, {mode}: {revision} over HTTP, standard streams, and both together")


asyncio.run(main())
