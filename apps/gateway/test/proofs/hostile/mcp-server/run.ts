// `npm run prove -- hostile`, its part about the gateway as an MCP server: clients and pages try to do more than their
// token permits. Then each check is removed in a copy of the sources, and an attack must succeed.
import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const PACKAGE = join(import.meta.dirname, "..", "..", "..", "..", "..", "..", "packages", "server");
const PROGRAM = join(import.meta.dirname, "try-attacks.ts");
const resultSchema = z.object({ tried: z.number(), through: z.array(z.string()) });

function tryAttacks(sources: string): z.infer<typeof resultSchema> {
  const { stdout, stderr } = spawnSync(process.execPath, [PROGRAM, sources], { encoding: "utf8" });
  if (!stdout.startsWith("{")) throw new Error(`the attacks were not tried: ${stderr}`);
  return resultSchema.parse(JSON.parse(stdout));
}

const CHECKS = [
  {
    name: "only owners write to people",
    file: "mcp/conversation-tools.ts",
    from: 'if (may("owner"))',
    to: 'if (may("read"))',
  },
  {
    name: "only tokens that may chat instruct agents",
    file: "mcp/agent-tools.ts",
    from: 'if (may("chat"))',
    to: 'if (may("chat") || may("read"))',
  },
  {
    name: "only tokens that may read search the memory",
    file: "mcp/agent-tools.ts",
    from: 'if (may("read") && admin !== undefined)',
    to: "if (admin !== undefined)",
  },
  {
    name: "a member sees only their own conversations",
    file: "mcp/conversation-tools.ts",
    from: 'const lines = may("read")',
    to: 'const lines = may("chat")',
  },
  {
    name: "the text of a client is not the owner's",
    file: "mcp/agent-tools.ts",
    from: "from: `MCP client ${principal.name}`,",
    to: "",
  },
  {
    name: "pages of other sites are refused",
    file: "app.ts",
    from: '"/mcp",\n    noStore,\n    requireOwnOrigin(allowedHosts, apiErrors),',
    to: '"/mcp",\n    noStore,',
  },
] as const;

const { tried, through } = tryAttacks(join(PACKAGE, "src"));
console.log(`the gateway as an MCP server: ${tried} attacks tried, ${through.length} got through`);
for (const name of through) console.log("  ", name);
let failed = through.length > 0;
for (const { name, file, from, to } of CHECKS) {
  const copy = join(PACKAGE, `.defenceless-${process.pid}`);
  cpSync(join(PACKAGE, "src"), copy, { recursive: true });
  try {
    const text = readFileSync(join(copy, file), "utf8");
    if (!text.includes(from)) throw new Error(`${file} does not have: ${from}`);
    writeFileSync(join(copy, file), text.replace(from, to));
    const without = tryAttacks(copy).through.length;
    console.log(`without "${name}": ${without > 0 ? "caught" : "NOT CAUGHT"}`);
    if (without === 0) failed = true;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
process.exit(failed ? 1 : 0);
