import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { acquireHomeLock, openStore } from "@signalbox/store";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { hostWith } from "./host.ts";
import { runCommand } from "./run.ts";

const KEY = "agent:main:slack:direct:U1";

let home: string;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "signalbox-sessions-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const store = await openStore({ path: join(home, "signalbox.db") });
  const lease = await store.leases.acquire("gateway", "test", 60_000);
  if (lease === undefined) throw new Error("no lease");
  const seed = { agentId: "main", channel: "slack", account: "main", kind: "direct" };
  await store.sessions.ensure({ ...seed, key: KEY, peer: "U1" });
  await store.sessions.ensure({ ...seed, key: "agent:main:slack:direct:V2", peer: "V2" });
  const content = [{ type: "text", text: "a heron, please" }];
  const call = { type: "toolCall", id: "c1", name: "draw", args: {}, argsText: "{}" };
  await store.sessions.append(
    KEY,
    [
      { role: "user", content },
      { role: "assistant", content: [call] },
    ],
    lease,
  );
  await store.leases.release(lease);
  await store.close();
});

const sessions = (...words: string[]) => runCommand(hostWith(), "sessions", ...words, "--home", home);

it("lists the conversations under titles, also where no command is named", async () => {
  const { out } = await sessions();
  expect(out).toMatch(/^LAST ACTIVE +TITLE +MESSAGES +TOKENS +COST \(USD\) +SESSION\n/);
  expect(out).toContain(KEY);
});

it("lists all of them, however many there are", async () => {
  const store = await openStore({ path: join(home, "signalbox.db") });
  const seed = { agentId: "main", channel: "slack", account: "main", kind: "direct" };
  await Promise.all(
    Array.from({ length: 120 }, (_, n) =>
      store.sessions.ensure({ ...seed, key: `more ${n}`, peer: `W${n}` }),
    ),
  );
  await store.close();
  expect(JSON.parse((await sessions("list", "--json")).out)).toHaveLength(122);
});

it("shows and renames one by the end of its name or its title", async () => {
  expect((await sessions("rename", "direct:U1", "Birds")).code).toBe(0);
  const { out } = await sessions("show", "Birds");
  expect(out).toContain(`${KEY}, "Birds"`);
  expect(out).toMatch(/user\n {4}a heron, please/);
  expect(out).toMatch(/assistant\n {4}\[calls draw\]/);
  expect((await sessions("show", "nobody")).err).toContain("There is no session nobody.");
});

it("begins one anew while no gateway runs, and only then", async () => {
  const lock = acquireHomeLock(home);
  expect((await sessions("reset", KEY)).code).toBe(75);
  lock.release();
  expect((await sessions("reset", KEY)).code).toBe(0);
  const [session] = JSON.parse((await sessions("--json")).out).filter(
    ({ key }: { key: string }) => key === KEY,
  );
  expect(session).toMatchObject({ generation: 1, messageCount: 0 });
  expect((await sessions("show", KEY)).out).toContain("a heron, please");
});
