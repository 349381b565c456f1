import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "@signalbox/config";
import { locateHome, secretSources } from "@signalbox/home";
import Sqlite from "better-sqlite3";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { createHermesSource, HERMES_TOKEN } from "./hermes-source.ts";
import { hashesOf, run, stateOf, temporaryFolder, whyOf } from "./import-run.ts";

it("imports a home of Hermes, and changes nothing in a second run", async () => {
  const dir = createHermesSource();
  const before = hashesOf(dir);
  const options = { system: "hermes", owners: ["telegram:5001"] } as const;
  const { report, store, home } = await run(dir, options);
  expect(hashesOf(dir)).toEqual(before);
  const ids = report.items.map(({ part, id }) => `${part} ${id}`);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  expect(report.items.filter(({ part }) => part === "sessions").map(({ id, state }) => [id, state])).toEqual([
    ["g1", "imported"],
    ["s2", "imported"],
    ["cli", "skipped"],
    ["s1", "skipped"],
  ]);
  const file = join(home, "signalbox.yaml");
  const loaded = loadConfig({
    file,
    text: readFileSync(file, "utf8"),
    env: {},
    sources: secretSources(locateHome(home, {}), {}),
  });
  expect(loaded.problems.filter(({ severity }) => severity === "error")).toEqual([]);
  expect(loaded.config.agents.list).toMatchObject([
    { id: "main", model: "local/qwen", thinking: "off", limits: { turns: 60 } },
  ]);
  expect(loaded.config.access).toMatchObject({
    dm: "pairing",
    owners: ["telegram:5001"],
    allow: ["telegram:5002", "telegram:5003"],
  });
  expect(loaded.config.session.queue.mode).toBe("followup");
  expect(report.warnings.join("\n")).toContain("GATEWAY_ALLOW_ALL_USERS is not imported");
  expect(stateOf(report, "voice.on")).toBe("unsupported");
  expect(stateOf(report, '[".env"].OTHER')).toBe("unsupported");
  const session = await store.sessions.get("agent:main:telegram:direct:5001");
  expect(session).toMatchObject({ generation: 1, messageCount: 4, title: "Tea" });
  expect((await store.sessions.transcript("agent:main:telegram:direct:5001")).length).toBe(6);
  expect((await store.sessions.history("agent:main:telegram:main:group:-100")).length).toBe(1);
  expect((await store.kv.list("schedules")).map(({ value }) => value)).toMatchObject([
    {
      when: { zone: "Europe/Berlin" },
      task: { text: "Use the skill tea.\nnews", sessionKey: "agent:main:telegram:direct:5001" },
    },
  ]);
  expect(readFileSync(join(home, "workspaces/main/memory/MEMORY.md"), "utf8")).toMatch(
    /^- likes tea .*untrusted.*\n- lives in Bonn/,
  );
  expect(JSON.stringify(report)).not.toContain(HERMES_TOKEN);
  const again = await run(dir, options, { home });
  expect(again.report.items.filter(({ state }) => state === "imported" || state === "changed")).toEqual([]);
});

it("does not read the configuration of a newer version, and imports the rest", async () => {
  const { report, store } = await run(createHermesSource("_config_version: 51\nmodel: x/y\n"), {
    system: "hermes",
    secrets: false,
  });
  expect(report.warnings.join("\n")).toContain("newer Hermes");
  expect(stateOf(report, "config.yaml")).toBe("unsupported");
  expect(await store.sessions.get("agent:main:telegram:direct:5001")).toBeDefined();
});

it("imports no file through a link", async () => {
  const dir = createHermesSource();
  const outside = temporaryFolder();
  for (const name of ["SOUL.md", "MEMORY.md", "USER.md"]) writeFileSync(join(outside, name), "private\n");
  mkdirSync(join(outside, "food/tea"), { recursive: true });
  writeFileSync(join(outside, "food/tea/SKILL.md"), "---\nname: tea\ndescription: d\n---\nprivate\n");
  for (const [name, target] of [
    ["SOUL.md", join(outside, "SOUL.md")],
    ["memories", outside],
    ["skills", outside],
  ] as const) {
    rmSync(join(dir, name), { recursive: true });
    symlinkSync(target, join(dir, name));
  }
  writeFileSync(join(dir, "AGENTS.md"), "brief\n");
  const { report, home } = await run(dir, { system: "hermes" });
  for (const id of ["SOUL.md", "memories/MEMORY.md", "memories/USER.md", "skills"])
    expect(whyOf(report, id)).toBe("A link, which may lead out of the folder.");
  expect(stateOf(report, "AGENTS.md")).toBe("imported");
  for (const path of ["SOUL.md", "USER.md", "memory/MEMORY.md"])
    expect(existsSync(join(home, "workspaces/main", path))).toBe(false);
  expect(existsSync(join(home, "skills/tea"))).toBe(false);
});

it("imports fallbacks, and MCP servers with the tools that were denied", async () => {
  const dir = createHermesSource(
    "_config_version: 50\nmodel: { default: qwen, provider: local }\ncustom_providers: [{ name: local, base_url: 'http://127.0.0.1:9/v1', api_key: sk-invented-0123456789 }]\nfallback_providers: [{ provider: local, model: small }]\nmcp_servers: { docs: { url: 'http://127.0.0.1:9/mcp', tools: { exclude: [drop] } } }\n",
  );
  const { home } = await run(dir, { system: "hermes" });
  const { agents, mcp } = parse(readFileSync(join(home, "signalbox.yaml"), "utf8"));
  expect(agents.list[0].fallbacks).toEqual(["local/small"]);
  expect(agents.defaults.tools.deny).toEqual(["mcp__docs__drop"]);
  expect(mcp.servers.docs).toEqual({ url: "http://127.0.0.1:9/mcp" });
});

it("keeps conversations at the terminal on the web page if asked to", async () => {
  const dir = createHermesSource();
  const db = new Sqlite(join(dir, "state.db"));
  db.exec("INSERT INTO messages VALUES (NULL, 'cli', 'user', 'hello', NULL, NULL, NULL, 1, 0, 1)");
  db.close();
  const { report, store } = await run(dir, { system: "hermes", all: true });
  expect(stateOf(report, "cli")).toBe("changed");
  const kept = (await store.sessions.list()).filter(({ peer }) => peer?.startsWith("import-"));
  expect(kept).toMatchObject([{ messageCount: 1, data: { taint: { sources: ["history"] } } }]);
});
