// The official TypeScript client of the second generation: with and without a handshake.
import assert from "node:assert";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const url = process.env.JUROR_URL;
const weather = "current_for_garden_weather";
const command = ["mcp", "--tools", "examples/tools", "--cache", "examples/tool_cache"];

async function connected(transport, mode) {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(transport);
  return client;
}

async function lookAround(transport, mode, revision) {
  const client = await connected(transport, mode);
  assert.equal(client.getNegotiatedProtocolVersion(), revision);
  const { tools } = await client.listTools();
  assert.equal(tools.length, 7);
  const known = await client.callTool({ name: weather, arguments: { garden: "Thornfold" } });
  assert.equal(JSON.parse(known.content[0].text).sky, "overcast");
  const unknown = await client.callTool({ name: weather, arguments: { garden: "Nowhere" } });
  assert.equal(unknown.isError, true);
  await client.close();
}

async function search(transport, mode) {
  const client = await connected(transport, mode);
  const found = await client.callTool({ name: "search_tools", arguments: { query: "weather", k: 2 } });
  assert.equal(JSON.parse(found.content[0].text).length, 2);
  const call = { name: "call_tool", arguments: { name: weather, arguments: { garden: "Thornfold" } } };
  assert.equal(JSON.parse((await client.callTool(call)).content[0].text).sky, "overcast");
  await client.close();
}

const http = (path) => new StreamableHTTPClientTransport(new URL(url + path));
const stdio = () => new StdioClientTransport({ command: process.env.JUROR, args: command });
for (const [mode, revision] of [["auto", "2026-07-28"], ["legacy", "2025-11-25"]]) {
  await lookAround(http("/mcp"), mode, revision);
  await lookAround(stdio(), mode, revision);
  await search(http("/mcp?tools=search"), mode);
  const opened = await (await fetch(`${url}/runs/ts-${mode}/1`, { method: "POST" })).json();
  await lookAround(http(opened.mcp), mode, revision);
  const headers = { "juror-run-key": opened.key };
  const { calls } = await (await fetch(url + opened.calls, { headers })).json();
  assert.deepEqual(calls.map((call) => call.source), ["cache", "none"]);
  console.log(`TypeScript client 2.4.0, ${mode}: ${revision} over HTTP and standard streams`);
}
