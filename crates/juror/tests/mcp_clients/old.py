"""The official Python client of the first generation, which speaks 2025-06-18."""

import asyncio
import json

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client

from shared import JUROR, THORNFOLD, TOOLS, URL, WEATHER, check_recorded, open_query


async def look_around(session):
    started = await session.initialize()
    assert started.protocolVersion == "2025-06-18", started.protocolVersion
    await session.send_ping()
    tools = (await session.list_tools()).tools
    assert len(tools) == 7
    known = await session.call_tool(WEATHER, {"garden": "Thornfold"})
    assert json.loads(known.content[0].text) == THORNFOLD and not known.isError
    assert (await session.call_tool(WEATHER, {"garden": "Nowhere"})).isError


async def search(session):
    await session.initialize()
    found = await session.call_tool("search_tools", {"query": "opening hours"})
    assert "opening_hours_for_garden_visits" in found.content[0].text


async def over_http(url, work):
    async with streamablehttp_client(url) as (read, write, _):
        async with ClientSession(read, write) as session:
            await work(session)


async def main():
    await over_http(URL + "/mcp", look_around)
    await over_http(URL + "/mcp?tools=search", search)
    address, calls = open_query("old")
    await over_http(address, look_around)
    check_recorded(calls())
    async with stdio_client(StdioServerParameters(command=JUROR, args=TOOLS)) as (read, write):
        async with ClientSession(read, write) as session:
            await look_around(session)
    print("Python mcp 1.13.1: 2025-06-18 over HTTP and standard streams")


asyncio.run(main())
