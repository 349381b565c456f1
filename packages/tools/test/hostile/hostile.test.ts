import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ATTEMPT_KINDS } from "./attempt-kinds.ts";
import { ATTEMPTS, type Attempt } from "./attempts.ts";
import { DEFENCES } from "./defences.ts";
import { loadSubject, SOURCES } from "./subject.ts";
import { tryAll } from "./try-all.ts";
import { ATTACKERS, type Attacker } from "./world.ts";

const tools = await loadSubject(SOURCES);
const sandbox = await tools.startSandbox({
  limits: { timeoutMs: 60_000, memoryBytes: 200_000_000, scratchBytes: 64_000_000 },
});
const isSandboxed = sandbox.level === "bubblewrap";
if (!isSandboxed) console.log(`skipped: commands in the sandbox, since ${sandbox.reason}`);

test("there are at least 300 distinct attempts, and a defence against each kind", () => {
  expect(new Set(ATTEMPTS.map(({ calls }) => JSON.stringify(calls))).size).toBe(ATTEMPTS.length);
  expect(ATTEMPTS.length).toBeGreaterThanOrEqual(300);
  expect(new Set(DEFENCES.flatMap(({ kinds }) => kinds))).toEqual(new Set(ATTEMPT_KINDS));
});

test("the changes of all defences match the sources", () => {
  for (const { file, from } of DEFENCES.flatMap(({ changes }) => changes))
    expect(readFileSync(new URL(`../../src/${file}`, import.meta.url), "utf8")).toContain(from);
});

test.skipIf(!isSandboxed).each(ATTEMPT_KINDS)(
  "a sample of the attempts that `prove -- hostile` makes: %s",
  async (kind) => {
    const sample = ATTEMPTS.filter((attempt) => attempt.kind === kind).filter((_, index) => index % 9 === 0);
    // Every attacker makes the first attempt. The others take turns with the rest.
    const attackersOf = (attempt: Attempt): readonly Attacker[] => {
      const index = sample.indexOf(attempt);
      return index === 0 ? ATTACKERS : ATTACKERS.slice(index % ATTACKERS.length).slice(0, 1);
    };
    expect((await tryAll(tools, sandbox, sample, attackersOf)).breaches).toEqual([]);
  },
  300_000,
);
