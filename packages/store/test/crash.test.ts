import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openStore, type SqliteStore } from "../src/index.ts";
import { temporaryFolder } from "./support.ts";

/** How many times the process is killed. `STORE_KILLS=500` for the whole count. */
const kills = Number(process.env["STORE_KILLS"] ?? 12);
const seed = Number(process.env["STORE_SEED"] ?? 20261121);
/** It loads the built package, as it does in use: from its sources it would take a second for each kill to begin. */
const worker = fileURLToPath(new URL("children/worker.ts", import.meta.url));

/** Lines a worker says at most before it is killed; the first one says that it is ready. */
const MOST_LINES = 80;

/** Mulberry32: small, and the same everywhere. */
function randomFrom(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Lets a worker say so many lines, kills it, and gives the lines it had said. */
async function killed(path: string, prefix: string, afterLines: number): Promise<string[]> {
  const child = spawn(process.execPath, [worker, path, prefix], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (text: string) => {
    said += text;
    if (said.split("\n").length - 1 > afterLines) child.kill("SIGKILL");
  });
  const [, signal] = await once(child, "close");
  expect(signal).toBe("SIGKILL");
  // The last line may be cut.
  return said.split("\n").slice(0, -1);
}

async function check(store: SqliteStore, acknowledged: ReadonlyMap<string, Set<string>>): Promise<void> {
  expect(await store.admin.integrity()).toEqual({ ok: true, problems: [] });
  const rows = await store.inbox.list({ limit: 1_000_000 });
  const states = new Map(rows.map((row) => [row.eventId, row]));
  expect(states.size).toBe(rows.length);
  for (const text of acknowledged.get("accepted") ?? []) expect(states.has(`e-${text}`), text).toBe(true);
  for (const text of acknowledged.get("finished") ?? [])
    expect(states.get(`e-${text}`)?.state, text).toBe("replied");

  const outbox = await store.outbox.list({ states: ["pending", "sending", "sent"], limit: 1_000_000 });
  const byText = new Map(outbox.map((row) => [row.payload, row]));
  expect(byText.size).toBe(outbox.length);
  for (const text of acknowledged.get("sent") ?? []) expect(byText.get(text)?.state, text).toBe("sent");

  const active = new Set((await store.runs.interrupted()).map(({ run }) => run.sessionKey));
  for (const session of await store.sessions.list({ limit: 1000 })) {
    const transcript = [...(await store.sessions.transcript(session.key))].reverse();
    expect(transcript.map((entry) => entry.seq)).toEqual(transcript.map((_, index) => index + 1));
    expect(session.lastSeq).toBe(transcript.length);
    expect(session.activeRun !== undefined).toBe(active.has(session.key));
    const said = transcript.map((entry) => String(entry.message));
    for (const row of rows.filter((candidate) => candidate.conversationId === session.key)) {
      const text = row.eventId.slice(2);
      const whole = ["in", "call", "result", "out"].map((kind) => `${kind} ${text}`);
      const found = said.filter((message) => message.endsWith(` ${text}`));
      // What is ended as replied is whole, in order and has its reply; nothing else has one.
      expect(found).toEqual(whole.slice(0, found.length));
      expect(found.length === 4, text).toBe(row.state === "replied");
      expect(byText.has(text), text).toBe(row.state === "replied");
      if (row.state === "running") expect(active.has(session.key)).toBe(true);
    }
    const answeredRuns = (await store.runs.list({ sessionKey: session.key, limit: 1_000_000 })).filter(
      (run) => run.state === "completed",
    );
    expect(session.totals.costMicros).toBe(answeredRuns.length);
  }
}

test(`loses no acknowledged write and leaves none half done after ${kills} kills (seed ${seed})`, async () => {
  const random = randomFrom(seed);
  const acknowledged = new Map<string, Set<string>>();
  const path = `${temporaryFolder()}/a.db`;
  for (let kill = 0; kill < kills; kill += 1) {
    const lines = await killed(path, `k${kill}`, Math.floor(random() * MOST_LINES));
    for (const line of lines) {
      const [what = "", text = ""] = line.split(" ");
      acknowledged.set(what, (acknowledged.get(what) ?? new Set()).add(text));
    }
    if (kill % 4 === 3 || kill === kills - 1) {
      const store = await openStore({ path });
      // A holder of its own, so that the worker's runs count as interrupted.
      await store.leases.acquire("gateway", "home", 0);
      await check(store, acknowledged);
      await store.close();
    }
  }
  expect(acknowledged.get("finished")?.size ?? 0).toBeGreaterThan(kills);
}, 600_000);
