// The official TypeScript SDK of the first generation, which speaks 2025-06-18.
import assert from "node:assert";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const url = new URL(process.env.JUROR_URL + "/mcp");
const args = ["mcp", "--tools", "examples/tools", "--cache", "examples/tool_cache"];
const http = new StreamableHTTPClientTransport(url);
const stdio = new StdioClientTransport({ command: process.env.JUROR, args });
for (const transport of [http, stdio]) {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  assert.equal((await client.listTools()).tools.length, 7);
  const call = { name: "current_for_garden_weather", arguments: { garden: "Thornfold" } };
  assert.equal(JSON.parse((await client.callTool(call)).content[0].text).sky, "overcast");
  await client.close();
}
assert.equal(http.protocolVersion, "2025-06-18");
console.log("TypeScript SDK 1.17.5: 2025-06-18 over HTTP and standard streams");
