// Speaks JSON-RPC over stdin and stdout, for the tests of `superviseJsonRpc`.
import { createInterface } from "node:readline";

const write = (message: unknown): void => void process.stdout.write(`${JSON.stringify(message)}\n`);

process.stdout.write("Last login: a banner that is not JSON\n");
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  switch (method) {
    case "echo":
      write({ jsonrpc: "2.0", id, result: params });
      break;
    case "environment":
      write({ jsonrpc: "2.0", id, result: Object.keys(process.env) });
      break;
    case "subscribe":
      write({ jsonrpc: "2.0", id, result: { pid: process.pid } });
      for (const text of ["one", "two"]) write({ jsonrpc: "2.0", method: "message", params: { text } });
      break;
    case "refuse":
      write({ jsonrpc: "2.0", id, error: { code: -5, message: "rate limited", data: { wait: 3 } } });
      break;
    case "long":
      process.stdout.write(`${"x".repeat(params.bytes)}\n`);
      break;
    case "die":
      process.stderr.write("Full Disk Access is missing\n", () => process.exit(1));
      break;
    default:
      break;
  }
}
