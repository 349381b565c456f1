// An MCP server over stdio with the names of the tools of `@playwright/mcp`. Each call returns the id of the process.
// `browser_navigate` to `end:` ends the process.
import { createInterface } from "node:readline";

const NAMES = process.argv.slice(2);
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "fake", version: "1" },
  }),
  "tools/list": () => ({
    tools: NAMES.map((name) => ({ name, description: name, inputSchema: { type: "object" } })),
  }),
  "tools/call": ({ arguments: args }) => {
    if (args?.url === "end:") process.exit(1);
    return { content: [{ type: "text", text: String(process.pid) }] };
  },
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method](params) }));
});
