import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "@signalbox/store";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { hostWith } from "./host.ts";
import { runCommand } from "./run.ts";

const DAY_MS = 86_400_000;

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "signalbox-usage-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
});

/** Runs that began and, where they are to, ended so many days ago, in a session each. */
async function answer(
  runs: readonly { readonly key: string; readonly daysAgo: number; readonly ends: boolean }[],
) {
  let daysAgo = 0;
  const store = await openStore({
    path: join(home, "signalbox.db"),
    clock: () => Date.now() - daysAgo * DAY_MS,
  });
  for (const [ago, begun] of Map.groupBy(runs, (run) => run.daysAgo)) {
    daysAgo = ago;
    const lease = await store.leases.acquire("gateway", "test", DAY_MS);
    if (lease === undefined) throw new Error("no lease");
    await Promise.all(
      begun.map(async ({ key, ends }) => {
        const session = {
          key,
          agentId: "main",
          channel: "plain",
          account: "main",
          peer: key,
          kind: "direct",
        };
        const started = await store.runs.begin({ session, lease, inboxIds: [], userMessages: [] });
        if (started.outcome !== "started") throw new Error(started.outcome);
        if (ends) await store.runs.finish({ runId: started.run.id, lease, outcome: "completed", inbox: [] });
      }),
    );
  }
  await store.close();
}

async function answered(...words: string[]): Promise<string[]> {
  const { out } = await runCommand(
    hostWith(),
    ...["usage", "--by", "message", "--json", "--home", home, ...words],
  );
  return JSON.parse(out).map(({ sessionKey }: { sessionKey: string }) => sessionKey);
}

it("lists messages of the last seven days, or of as many as are asked for", async () => {
  await answer([
    { key: "old", daysAgo: 10, ends: true },
    { key: "new", daysAgo: 2, ends: true },
  ]);
  expect(await answered()).toEqual(["new"]);
  expect(await answered("--days", "30")).toEqual(["new", "old"]);
  expect(await answered("--days", "1")).toEqual([]);
});

it("lists what ended before many runs that go on", async () => {
  const waiting = Array.from({ length: 600 }, (_, at) => ({ key: `waits-${at}`, daysAgo: 0, ends: false }));
  await answer([{ key: "first", daysAgo: 1, ends: true }, ...waiting]);
  expect(await answered()).toEqual(["first"]);
});

it.each([
  ["--days", "7"],
  ["--by", "sender"],
])("refuses %s beside budgets, which have their own", async (...words) => {
  const { code, err } = await runCommand(hostWith(), "usage", "--home", home, "--budgets", ...words);
  expect([code, err]).toEqual([64, expect.stringContaining("cannot be used with")]);
});
