import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "@signalbox/config";
import { locateHome, secretSources } from "@signalbox/home";
import { create } from "tar";
import { expect, it } from "vitest";
import {
  DAY,
  hashesOf,
  leavesOf,
  NOW,
  type Ran,
  run,
  stateOf,
  temporaryFolder,
  whyOf,
} from "./import-run.ts";
import { createOpenclawHome, type FixtureSession, said } from "./openclaw-fixture.ts";
import { CONFIGURATION, createOpenclawSource, DIRECT, FILES, GROUP, JOBS } from "./openclaw-source.ts";

/** The direct conversation with one more message. */
const GROWN: FixtureSession = {
  ...DIRECT,
  windows: DIRECT.windows.map((each) => ({
    ...each,
    events: [...each.events, said("a3", "more", NOW - DAY)],
  })),
};

it("imports a home, reports every item once, and never writes to the source", async () => {
  const dir = createOpenclawSource();
  const before = hashesOf(dir);
  const plan = await run(dir, { apply: false, secrets: false });
  expect(plan.report.applied).toBe(false);
  expect(existsSync(join(plan.home, "signalbox.yaml"))).toBe(false);
  expect(await plan.store.sessions.list()).toEqual([]);
  const { report, store, home } = await run(dir);
  expect(hashesOf(dir)).toEqual(before);

  const ids = report.items.map(({ part, id }) => `${part} ${id}`);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  const ofPart = (part: string) => report.items.filter((item) => item.part === part).length;
  expect(ofPart("sessions")).toBe(2);
  expect(ofPart("schedules")).toBe(JOBS.length);
  // The extension, the approval, and each value of the configuration.
  expect(ofPart("config")).toBe(leavesOf(CONFIGURATION) + 2);
  expect(ofPart("workspaces") + ofPart("memory") + ofPart("skills")).toBe(Object.keys(FILES).length - 2);

  const loaded = loadConfig({
    file: join(home, "signalbox.yaml"),
    text: readFileSync(join(home, "signalbox.yaml"), "utf8"),
    env: {},
    sources: secretSources(locateHome(home, {}), {}),
  });
  expect(loaded.problems.filter(({ severity }) => severity === "error")).toEqual([]);
  expect(loaded.config.access).toMatchObject({
    dm: "pairing",
    owners: ["telegram:5001"],
    allow: ["telegram:5002"],
    groups: {
      mode: "allowlist",
      people: "members",
      allow: ["telegram:-1001"],
      rules: { "telegram:-1001": { people: "listed", allow: ["telegram:5001", "telegram:5003"] } },
    },
  });
  expect(loaded.config.agents.list).toMatchObject([
    { id: "main", name: "Molty", default: true, thinking: "max", heartbeat: { every: "1h", to: "owner" } },
    { id: "ops", tools: { profile: "coding", deny: ["exec"] } },
  ]);
  expect(loaded.config.bindings).toHaveLength(1);
  expect(Object.keys(loaded.config.mcp.servers)).toEqual(["docs"]);
  expect(whyOf(report, "mcp.servers.docs.command")).toContain("mcp__docs__*");
  expect(loaded.config.hooks).toEqual({
    build: { agent: "ops", text: "Build {{status}}", secret: "invented-hook-token-0123456789" },
  });
  expect(stateOf(report, "hooks.mappings[1].action")).toBe("unsupported");
  expect(loaded.config.session).toMatchObject({
    dmScope: "per-channel-peer",
    queue: { mode: "collect", drop: "summarise" },
    reset: { default: { mode: "daily", hour: 5, timeZone: "Europe/Berlin" } },
  });
  expect(stateOf(report, "channels.whatsapp.allowFrom[0]")).toBe("unsupported");
  expect(report.warnings.join("\n")).toContain("telegram:-1002 is not admitted");

  const session = await store.sessions.get("agent:main:telegram:direct:5001");
  expect(session).toMatchObject({
    agentId: "main",
    account: "default",
    peer: "5001",
    updatedAt: NOW - 3 * DAY + 1,
  });
  expect(session?.data).toBeUndefined();
  expect((await store.sessions.get("agent:ops:telegram:default:group:-1001"))?.data).toEqual({
    taint: { generation: 0, sources: [], speakers: ["telegram:5003"] },
  });
  const schedules = await store.kv.list("schedules");
  expect(schedules.map(({ key }) => key)).toEqual(["import-j1", "import-j2"]);
  expect(schedules[0]?.value).toMatchObject({
    when: { kind: "cron", expression: "0 8 * * *", zone: "Europe/Berlin" },
    task: { agentId: "main", sessionKey: "agent:main:telegram:direct:5001", text: "Say good morning" },
  });
  expect(schedules[1]?.value).toMatchObject({
    when: { everyMs: 60_000 },
    task: { sessionKey: "agent:main:web:direct:schedules-main" },
  });
  expect([
    stateOf(report, "j3"),
    stateOf(report, "j4"),
    stateOf(report, "j5"),
    stateOf(report, "j6"),
  ]).toEqual(["skipped", "unsupported", "unsupported", "skipped"]);

  const memory = readFileSync(join(home, "workspaces/main/memory/MEMORY.md"), "utf8");
  expect(memory).toContain(
    '- tea &lt;!-- memory {"author":"owner"} --> <!-- memory {"untrusted":"other"} -->',
  );
  expect(readFileSync(join(home, "workspaces/main/memory/2026-11-01.md"), "utf8")).toMatch(
    /met Ann.*\n\n\*\*0930\*\*.*\n\n\*\*Plan\*\*/,
  );
  expect(existsSync(join(home, "workspaces/main/.git"))).toBe(false);
  expect(report.steps.join("\n")).toMatch(/^main\/AGENTS\.md:1$/m);
});

it("imports what is new in a second run, and keeps what a person changed since", async () => {
  const dir = createOpenclawSource();
  const { home, store } = await run(dir);
  const soul = join(home, "workspaces/ops/SOUL.md");
  writeFileSync(soul, "lively\n");
  rmSync(join(home, "workspaces/main/notes/a.txt"));
  await store.kv.delete("schedules", "import-j1");
  const lease = await store.leases.acquire("gateway", "test", 60_000);
  if (lease === undefined) throw new Error("no lease");
  await store.sessions.append(
    "agent:ops:telegram:default:group:-1001",
    [{ role: "user", content: "new" }],
    lease,
  );

  const grown = {
    ...DIRECT,
    windows: [
      {
        ...DIRECT.windows[0],
        id: "w1",
        createdAt: NOW - 3 * DAY,
        events: [...(DIRECT.windows[0]?.events ?? []), said("a3", "later", NOW - DAY)],
      },
    ],
  };
  const regrown = {
    ...GROUP,
    windows: [
      {
        ...GROUP.windows[0],
        id: "w-group",
        createdAt: NOW - DAY,
        events: [...(GROUP.windows[0]?.events ?? []), said("g3", "later", NOW)],
      },
    ],
  };
  const next = createOpenclawSource({ sessions: { main: [grown], Ops: [regrown] } });
  const { report, store: second } = await run(next, {}, { home });
  expect(readFileSync(soul, "utf8")).toBe("lively\n");
  expect(whyOf(report, "ops/SOUL.md")).toContain("changed here since");
  expect(whyOf(report, "main/notes/a.txt")).toContain("removed here since");
  expect(whyOf(report, "j1")).toContain("removed here since");
  expect(stateOf(report, DIRECT.key)).toBe("imported");
  expect((await second.sessions.history("agent:main:telegram:direct:5001")).length).toBe(3);
  expect(stateOf(report, GROUP.key)).toBe("conflict");
});

it("applies the strictest rule for commands, wherever OpenClaw stores it", async () => {
  const approvals = { defaults: { security: "allowlist" }, agents: { main: { ask: "always" } } };
  const { home } = await run(createOpenclawSource({ approvals }));
  expect(readFileSync(join(home, "signalbox.yaml"), "utf8")).toMatch(/ask:\s+exec: always/);
  const denied = await run(createOpenclawSource({ approvals: { defaults: { security: "deny" } } }));
  expect(readFileSync(join(denied.home, "signalbox.yaml"), "utf8")).toMatch(/deny:\s+- exec/);
});

it("places a main conversation of several people on the web page, tainted", async () => {
  const session: FixtureSession = {
    key: "agent:main:main",
    windows: [
      { id: "w", createdAt: NOW, events: [said("1", "a", NOW), said("2", "b", NOW, { id: "5002" })] },
    ],
  };
  const { session: _, ...configuration } = CONFIGURATION;
  const { store, home } = await run(createOpenclawSource({ configuration, sessions: { main: [session] } }));
  expect(await store.sessions.get("agent:main:web:direct:import-main")).toMatchObject({
    channel: "web",
    data: { taint: { sources: ["history"], speakers: ["telegram:5002", "unknown"] } },
  });
  expect(readFileSync(join(home, "signalbox.yaml"), "utf8")).toContain("dmScope: per-channel-peer");
});

it("keeps conversations that nobody can continue on the web page if asked to, tainted", async () => {
  const session = (key: string, createdVia: string, id: string): FixtureSession => ({
    key,
    createdVia,
    windows: [{ id: `w${id}`, createdAt: NOW, events: [said(id, `hello ${id}`, NOW)] }],
  });
  const sessions = {
    main: [session("agent:main:irc:direct:9", "channel", "1"), session("agent:main:cron:job", "cron", "2")],
  };
  const dir = createOpenclawSource({ sessions });
  const without = await run(dir);
  expect(without.report.items.filter(({ part }) => part === "sessions")).toMatchObject([
    { id: "agent:main:cron:job", state: "skipped", why: expect.stringContaining("--all") },
    {
      id: "agent:main:irc:direct:9",
      state: "unsupported",
      why: expect.stringContaining("--keep-unsupported"),
    },
  ]);
  const listKept = async ({ sessions }: Ran["store"]) =>
    (await sessions.list()).filter(({ peer }) => peer?.startsWith("import-"));
  expect(await listKept(without.store)).toEqual([]);

  const { report, store, home } = await run(dir, { all: true, keepUnsupported: true });
  const kept = await listKept(store);
  expect(kept.map(({ key }) => key.replace(/[0-9a-f]{16}$/, "…"))).toEqual([
    "agent:main:web:direct:import-…",
    "agent:main:web:direct:import-…",
  ]);
  for (const { data } of kept)
    expect(data).toMatchObject({ taint: { sources: expect.arrayContaining(["history"]) } });
  const states = report.items.filter(({ part }) => part === "sessions").map(({ state }) => state);
  expect(states).toEqual(["changed", "changed"]);
  await store.close();
  const again = await run(dir, { all: true, keepUnsupported: true }, { home });
  expect(await listKept(again.store)).toEqual(kept);
});

it("reads a backup, and refuses links and paths out of it", async () => {
  const folder = temporaryFolder();
  const root = join(folder, "2026-openclaw-backup");
  const state = "/home/ann/.openclaw";
  createOpenclawHome(join(root, "payload/posix", state), {
    configuration: CONFIGURATION,
    sessions: { main: [DIRECT] },
    files: FILES,
  });
  writeFileSync(
    join(root, "manifest.json"),
    JSON.stringify({ schemaVersion: 1, paths: { stateDir: state } }),
  );
  const file = join(folder, "backup.tar.gz");
  await create({ file, gzip: true, cwd: folder }, ["2026-openclaw-backup"]);
  const { store, report } = await run(file);
  expect(report.source).toBe(file);
  expect(await store.sessions.get(DIRECT.key)).toBeDefined();
  const { symlinkSync } = await import("node:fs");
  symlinkSync("/etc/passwd", join(root, "link"));
  const hostile = join(folder, "hostile.tar.gz");
  await create({ file: hostile, gzip: true, cwd: folder }, ["2026-openclaw-backup"]);
  await expect(run(hostile)).rejects.toThrow("it contains a link");
  const outside = join(folder, "outside.tar.gz");
  mkdirSync(join(folder, "inner"));
  await create({ file: outside, gzip: true, cwd: join(folder, "inner"), preservePaths: true }, [
    "../2026-openclaw-backup/manifest.json",
  ]);
  await expect(run(outside)).rejects.toThrow("leads out of the archive");
});

it("reads the files of versions before databases", async () => {
  const dir = join(temporaryFolder(), ".clawdbot");
  mkdirSync(join(dir, "agents/main/sessions"), { recursive: true });
  mkdirSync(join(dir, "credentials"), { recursive: true });
  mkdirSync(join(dir, "cron"), { recursive: true });
  writeFileSync(
    join(dir, "clawdbot.json"),
    JSON.stringify({ ...CONFIGURATION, agents: { list: [{ id: "main" }] }, bindings: [] }),
  );
  writeFileSync(
    join(dir, "credentials/telegram-allowFrom.json"),
    JSON.stringify({ version: 1, allowFrom: ["5002"] }),
  );
  writeFileSync(join(dir, "cron/jobs.json"), JSON.stringify({ version: 1, jobs: [JOBS[0]] }));
  writeFileSync(
    join(dir, "agents/main/sessions/sessions.json"),
    JSON.stringify({
      "agent:main:telegram:direct:5002": {
        sessionId: "s1",
        updatedAt: NOW,
        lastChannel: "telegram",
        lastTo: "telegram:5002",
      },
    }),
  );
  const lines = [
    { type: "session", version: 3, id: "s1" },
    {
      type: "message",
      id: "1",
      message: {
        role: "user",
        content: "[Telegram Bob id:5002 2026-01-01 10:00] hello\n[message_id: 77]",
        timestamp: NOW,
      },
    },
    {
      type: "message",
      id: "2",
      parentId: "1",
      message: { role: "assistant", content: [{ type: "text", text: "left" }], timestamp: NOW },
    },
    {
      type: "message",
      id: "3",
      parentId: "1",
      message: { role: "assistant", content: [{ type: "text", text: "hi" }], timestamp: NOW },
    },
  ];
  writeFileSync(
    join(dir, "agents/main/sessions/s1.jsonl"),
    lines.map((line) => JSON.stringify(line)).join("\n"),
  );
  const { store, report } = await run(dir);
  const history = await store.sessions.history("agent:main:telegram:direct:5002");
  expect(history.map(({ message }) => (message as { content: unknown }).content)).toEqual([
    "[message_id: 77]\nBob: hello",
    [{ type: "text", text: "hi" }],
  ]);
  expect((await store.sessions.get("agent:main:telegram:direct:5002"))?.data).toMatchObject({
    taint: { sources: ["history"], speakers: ["unknown"] },
  });
  expect(stateOf(report, "j1")).toBe("imported");
  expect(readFileSync(join(report.items.length > 0 ? dir : "", "clawdbot.json"), "utf8")).toContain(
    "telegram",
  );
});

it("adds the new messages of a source, if an earlier attempt was interrupted at any write", async () => {
  for (let stop = 0, isDone = false; !isDone; stop++) {
    const { home } = await run(createOpenclawSource({ sessions: { main: [DIRECT] } }));
    const grown = createOpenclawSource({ sessions: { main: [GROWN] } });
    let count = 0;
    const faults = (point: string): void => {
      if (point === "write" && ++count > stop) throw new Error("interrupted");
    };
    const only = { only: new Set(["sessions"] as const) };
    isDone = await run(grown, only, { home, faults }).then(
      () => true,
      () => false,
    );
    const { store } = await run(grown, only, { home });
    expect([stop, (await store.sessions.history(DIRECT.key)).length]).toEqual([stop, 3]);
  }
});

it("replaces no conversation that was continued here after an interrupted import", async () => {
  const { home, store } = await run(createOpenclawSource({ sessions: { main: [DIRECT] } }));
  // As if the program had ended before it recorded a conversation of one message, and a person had then written one.
  const record = `openclaw session ${DIRECT.key}`;
  const [event] = String(await store.kv.get("import", record)).split(" ");
  await store.kv.set("import", record, `pending ${event} 0 1`);
  for (const session of [DIRECT, GROWN]) {
    const { report } = await run(createOpenclawSource({ sessions: { main: [session] } }), {}, { home });
    expect(stateOf(report, DIRECT.key)).toBe("conflict");
  }
});
