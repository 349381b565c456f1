/** What the conformance runner starts: connects to the server at the address given and uses each of its tools. */
import { createMcpServers } from "../src/index.ts";

const url = process.argv.at(-1) ?? "";
const servers = createMcpServers({ servers: { tested: { url } }, version: "1.0.0" });
for (const tool of await servers.tools(() => true)) {
  const args = tool.name.endsWith("add_numbers") ? { a: 5, b: 3 } : {};
  const signal = AbortSignal.timeout(20_000);
  await tool.execute({ id: "1", name: tool.name, args }, { signal, resultChars: 16_000, update: () => {} });
}
await servers.close();
