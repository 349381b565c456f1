// Measures the cost of an audit entry that precedes another write. Usage: node bench/audit.ts [decisions]
import fs from "node:fs";
import os from "node:os";
import { join } from "node:path";
import { type AuditEvent, openStore } from "../src/index.ts";

const decisions = Number(process.argv[2] ?? 4_000);
const folder = fs.mkdtempSync(join(os.tmpdir(), "signalbox-bench-"));
const entry: AuditEvent = {
  at: 1_764_000_000_000,
  kind: "tool",
  action: "allow",
  actor: "feishu:ou_881e8247625e31527b4d15a3",
  subject: "exec",
  details: { rule: "agent", agent: "coder", session: "agent:coder:feishu:direct:x" },
};

/** Returns the CPU time of one call in microseconds, and the number of commits of all calls. */
async function measured(name: string, audited: boolean): Promise<{ cpu: number; commits: number }> {
  const store = await openStore({ path: join(folder, `${name}.db`) });
  const before = (await store.maintenance.stats()).commits;
  const started = process.cpuUsage();
  for (let number = 0; number < decisions; number += 1) {
    const noted = audited ? store.audit.append(entry) : undefined;
    await store.kv.set("bench", "call", number);
    await noted;
  }
  const { user, system } = process.cpuUsage(started);
  const commits = (await store.maintenance.stats()).commits - before;
  await store.close();
  return { cpu: (user + system) / decisions, commits };
}

await measured("warm", true);
const rounds = 5;
const extra: number[] = [];
let commits = 0;
for (let round = 0; round < rounds; round += 1) {
  const alone = await measured(`alone${round}`, false);
  const together = await measured(`together${round}`, true);
  extra.push(together.cpu - alone.cpu);
  commits += together.commits - alone.commits;
}
const [, , median = 0] = extra.toSorted((a, b) => a - b);
console.log(`an audit entry: ${median.toFixed(0)} µs of CPU time (median of ${rounds} rounds)`);
console.log(`additional commits: ${commits} for ${rounds * decisions} entries`);
fs.rmSync(folder, { recursive: true });
