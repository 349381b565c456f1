// A server of tools as the Model Context Protocol has it, over standard input and output: `enter` adds a line to the
// file that it is started with.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const file = process.argv[2] ?? "";
const tool = {
  name: "enter",
  description: "Add a line to the ledger.",
  inputSchema: { type: "object", properties: { line: { type: "string" } }, required: ["line"] },
};

function answer(method: string, params: Readonly<Record<string, unknown>>): object {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params["protocolVersion"],
        capabilities: { tools: {} },
        serverInfo: { name: "ledger", version: "1.0.0" },
      };
    case "tools/list":
      return { tools: [tool] };
    default: {
      const { line } = params["arguments"] as { readonly line: string };
      appendFileSync(file, `${line}\n`);
      return { content: [{ type: "text", text: "Entered." }] };
    }
  }
}

createInterface({ input: process.stdin }).on("line", (text) => {
  const { id, method, params = {} } = JSON.parse(text);
  if (id !== undefined)
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: answer(method, params) })}\n`);
});
