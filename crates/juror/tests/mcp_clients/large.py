"""A pool of 16,001 tools: searched by default, and listed page by page on request."""

import asyncio
import json

from mcp import Client

from shared import URL


async def main():
    for mode in ["auto", "legacy"]:
        async with Client(URL + "/mcp", mode=mode) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == ["search_tools", "call_tool"], names
            found = await client.call_tool("search_tools", {"query": "tool", "k": 5})
            assert len(json.loads(found.content[0].text)) == 5
        async with Client(URL + "/mcp?tools=list", mode=mode) as client:
            names, cursor, pages = [], None, 0
            while True:
                page = await client.list_tools(cursor=cursor)
                names += [tool.name for tool in page.tools]
                cursor, pages = page.next_cursor, pages + 1
                if cursor is None:
                    break
        assert len(names) == len(set(names)) == 16001, len(names)
        print(f"Python mcp 2.3.0, {mode}: {len(names)} tools on {pages} pages")


asyncio.run(main())
