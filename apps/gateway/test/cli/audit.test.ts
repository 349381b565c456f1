import { readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { SESSION_KEY_HEADER, SignedIn } from "@signalbox/protocol";
import { expect, it } from "vitest";
import { demoConfig, exampleConfig, openWorld, TOKEN, type World } from "../support/harness.ts";

const json = { "content-type": "application/json" };
const bearer = { ...json, authorization: `Bearer ${TOKEN}` };

/** Lays hands on the database as somebody would who can write it. */
function tamper(world: World, ...statements: string[]): void {
  const database = new DatabaseSync(world.home.databaseFile);
  for (const statement of statements) database.exec(statement);
  database.close();
}

it("has every decision on record: configuration, sign-ins, tools, tokens, pairings", async () => {
  const world = await openWorld();
  world.configure(exampleConfig());
  world.script((_request, index) =>
    index === 0
      ? { toolCalls: [{ id: "toolu_1", name: "read", input: { file_path: "../../token" } }] }
      : { text: "done" },
  );
  const started = await world.start();
  const login = await fetch(`${started.url}/api/login`, {
    method: "POST",
    headers: json,
    body: JSON.stringify({ token: TOKEN }),
  });
  const session = {
    cookie: login.headers.get("set-cookie")?.split(";")[0] ?? "",
    [SESSION_KEY_HEADER]: SignedIn.parse(await login.json()).sessionKey,
  };
  const body = JSON.stringify({ model: "coder", messages: [{ role: "user", content: "read it" }] });
  await fetch(`${started.url}/v1/chat/completions`, { method: "POST", headers: bearer, body });
  await fetch(`${started.url}/api/logout`, { method: "POST", headers: { ...json, ...session }, body: "{}" });
  await world.command(["tokens", "add", "alice"]);
  await world.command(["tokens", "revoke", "alice"]);
  await started.stop();
  const { out } = await world.command(["audit", "list", "--json"]);
  const records = JSON.parse(out).map(({ kind, action, actor }: Record<string, string>) => [
    kind,
    action,
    actor,
  ]);
  expect(records).toEqual([
    ["configuration", "changed", "operator"],
    ["sign_in", "signed_in", "owner"],
    ["tool", expect.stringMatching(/allow|deny/), expect.stringMatching(/^api:/)],
    ["sign_in", "signed_out", "owner"],
    ["token", "added", "command line"],
    ["token", "revoked", "command line"],
  ]);
  expect(out).not.toContain(TOKEN);
  const verified = await world.command(["audit", "verify"]);
  expect(verified).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^All 6 entries are intact/),
  });
  // The same configuration again is no change.
  await (await world.start()).stop();
  expect(JSON.parse((await world.command(["audit", "list", "--json"])).out)).toHaveLength(6);
});

it.each([
  ["changed", "UPDATE audit_record SET actor = 'somebody else' WHERE seq = 3", 3],
  ["removed", "DELETE FROM audit_record WHERE seq = 4", 4],
  [
    "reordered",
    "UPDATE audit_record SET seq = 99 WHERE seq = 2; UPDATE audit_record SET seq = 2 WHERE seq = 3; UPDATE audit_record SET seq = 3 WHERE seq = 99",
    2,
  ],
  ["cut off", "DELETE FROM audit_record WHERE seq > 4", 5],
  [
    "cut off with the head beside them",
    "DELETE FROM audit_record WHERE seq > 4; UPDATE audit_head SET count = 4, hash = (SELECT hash FROM audit_record WHERE seq = 4)",
    5,
  ],
])("finds records that were %s, from the very one on", async (_, statement, seq) => {
  const world = await openWorld();
  world.configure(demoConfig());
  const started = await world.start();
  for (let times = 0; times < 5; times++) {
    const init = { method: "POST", headers: json, body: JSON.stringify({ token: TOKEN }) };
    expect((await fetch(`${started.url}/api/login`, init)).status).toBe(200);
  }
  await started.stop();
  expect((await world.command(["audit", "verify"])).code).toBe(0);
  tamper(world, statement);
  const { code, out } = await world.command(["audit", "verify"]);
  expect([code, out]).toEqual([1, expect.stringMatching(new RegExp(`^Broken at entry ${seq}`))]);
  // A start says so, and keeps what it noted as the evidence that it is.
  const noted = readFileSync(world.home.auditHeadFile, "utf8");
  const next = await world.start();
  await next.stop();
  if (seq === 5) {
    expect(next.log()).toContain("the audit chain does not contain its recorded head");
    expect(readFileSync(world.home.auditHeadFile, "utf8")).toBe(noted);
  }
});

it("finds a chain that was written anew by an end that was noted elsewhere", async () => {
  const world = await openWorld();
  world.configure(demoConfig());
  await (await world.start()).stop();
  const end = /Head: (\d+:[0-9a-f]{64})/.exec((await world.command(["audit", "verify"])).out)?.[1] ?? "";
  tamper(world, "DELETE FROM audit_record; DELETE FROM audit_head; DELETE FROM kv WHERE namespace = 'audit'");
  writeFileSync(world.home.auditHeadFile, '{"count":0,"hash":""}');
  world.configure(demoConfig({ access: { owners: ["plain:mallory"] } }));
  await (await world.start()).stop();
  expect((await world.command(["audit", "verify"])).code).toBe(0);
  expect((await world.command(["audit", "verify", "--head", end])).out).toMatch(/^Broken at entry 1/);
  expect((await world.command(["audit", "verify", "--head", "1"])).code).toBe(64);
});
