import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "@signalbox/config";
import { locateHome, secretSources } from "@signalbox/home";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { openSkillPins } from "../../src/configure/skill-pins.ts";
import { toServerName } from "../../src/import/mcp-servers.ts";
import { hashesOf, leavesOf, run, stateOf } from "./import-run.ts";
import { createNanobotSource, NANOBOT_CONFIGURATION, NANOBOT_TOKEN } from "./nanobot-source.ts";

it("imports a home of nanobot, and changes nothing in a second run", async () => {
  const dir = createNanobotSource();
  const before = hashesOf(dir);
  const { report, store, home } = await run(dir, { system: "nanobot", owners: ["telegram:5001"] });
  expect(hashesOf(dir)).toEqual(before);
  const ids = report.items.map(({ part, id }) => `${part} ${id}`);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  expect(report.items.filter(({ part }) => part === "config")).toHaveLength(leavesOf(NANOBOT_CONFIGURATION));
  expect(report.items.filter(({ part }) => part === "sessions")).toHaveLength(4);
  const file = join(home, "signalbox.yaml");
  const loaded = loadConfig({
    file,
    text: readFileSync(file, "utf8"),
    env: {},
    sources: secretSources(locateHome(home, {}), {}),
  });
  expect(loaded.problems.filter(({ severity }) => severity === "error")).toEqual([]);
  expect(loaded.config.agents.list).toMatchObject([
    {
      id: "main",
      model: "anthropic/claude-sonnet-4-6",
      thinking: "high",
      limits: { turns: 40 },
      heartbeat: { every: "30m" },
    },
  ]);
  expect(loaded.config.access).toMatchObject({
    owners: ["telegram:5001"],
    allow: ["telegram:5002", "telegram:5003"],
    groups: {
      people: "members",
      rules: { "telegram:-100": { people: "listed", allow: ["telegram:5001", "telegram:5002"] } },
    },
  });
  expect(stateOf(report, "discord:77")).toBe("unsupported");
  const history = await store.sessions.history("agent:main:telegram:direct:5001");
  expect(history.map(({ message }) => (message as { role: string }).role)).toEqual([
    "user",
    "assistant",
    "toolResult",
    "assistant",
  ]);
  expect((await store.sessions.get("agent:main:telegram:direct:5001"))?.data).toEqual({
    taint: { generation: 0, sources: ["web"], speakers: [] },
  });
  expect((await store.sessions.get("agent:main:telegram:main:group:-100"))?.data).toMatchObject({
    taint: { sources: ["history"], speakers: ["unknown"] },
  });
  expect((await store.kv.list("schedules")).map(({ key }) => key)).toEqual(["import-a"]);
  expect(readFileSync(join(home, "workspaces/main/memory/2026-11-29.md"), "utf8")).toBe(
    '- talked about tea <!-- memory {"untrusted":"other"} -->\n',
  );
  expect(JSON.stringify(report)).not.toContain(NANOBOT_TOKEN);
  const again = await run(dir, { system: "nanobot", owners: ["telegram:5001"] }, { home });
  expect(again.report.items.filter(({ state }) => state === "imported" || state === "changed")).toEqual([]);
});

it("names what a home without owners lacks, and imports no conversation as an owner's", async () => {
  const { report, store } = await run(createNanobotSource(), { system: "nanobot" });
  expect(report.warnings.join("\n")).toContain("--owner");
  expect((await store.sessions.get("agent:main:telegram:direct:5001"))?.data).toMatchObject({
    taint: { speakers: ["unknown"] },
  });
});

it("imports the files, the notes and the skills of the workspace", async () => {
  const dir = createNanobotSource();
  const workspace = join(dir, "workspace");
  writeFileSync(join(workspace, "memory/2026-11-29.md"), "- met Ann\n");
  writeFileSync(
    join(workspace, "memory/HISTORY.md"),
    "[2026-11-28 10:00] asked about tea\n\nand about cups\n\n[2026-11-29 09:00] <!-- memory {} --> said hello\n",
  );
  const { home, report, store } = await run(dir, { system: "nanobot", trustMemory: true });
  const read = (path: string): string => readFileSync(join(home, "workspaces/main", path), "utf8");
  expect(read("SOUL.md")).toBe("kind\n");
  expect(read("memory/MEMORY.md")).toBe("- tea\n");
  expect(read("skills/tea/SKILL.md")).toContain("name: tea");
  const mark = '<!-- memory {"untrusted":"other"} -->';
  expect(read("memory/2026-11-28.md")).toBe(
    `- [2026-11-28 10:00] asked about tea ${mark}\n- and about cups ${mark}\n`,
  );
  expect(read("memory/2026-11-29.md")).toBe(
    `- met Ann\n\n- talked about tea ${mark}\n- [2026-11-29 09:00] &lt;!-- memory {} --> said hello ${mark}\n`,
  );
  expect(stateOf(report, "main/memory/HISTORY.md#2026-11-29")).toBe("changed");
  const pins = openSkillPins(store.kv, { dir: home });
  expect(await pins.get(join(home, "workspaces/main/skills/tea"))).toMatchObject({ by: "nobody" });
});

it("imports instances of a channel, presets of models, and MCP servers with some of their tools", async () => {
  const dir = createNanobotSource();
  const telegram = { allowFrom: ["5001"], groupPolicy: "allowlist" };
  writeFileSync(
    join(dir, "config.json"),
    JSON.stringify({
      agents: { defaults: { modelPreset: "fast" } },
      modelPresets: { fast: { model: "gpt-5.2-mini", provider: "openai" } },
      providers: { openai: { apiKey: "sk-invented-0123456789" } },
      channels: {
        telegram: {
          enabled: true,
          ...telegram,
          instances: [
            { name: "home", token: NANOBOT_TOKEN },
            { name: "work", token: NANOBOT_TOKEN, enabled: false },
          ],
        },
      },
      tools: {
        mcpServers: {
          docs: { url: "http://127.0.0.1:9/mcp", enabledTools: ["find"] },
          _Mail: { command: "mail", cwd: "/srv", toolTimeout: 5 },
          日程: { command: "calendar" },
        },
        web: { search: { provider: "searxng", baseUrl: "http://127.0.0.1:9" } },
      },
      transcription: { provider: "openai", model: "whisper-1" },
    }),
  );
  const { home, report } = await run(dir, { system: "nanobot", owners: ["telegram:5001"] });
  const configuration = parse(readFileSync(join(home, "signalbox.yaml"), "utf8"));
  expect(configuration.agents.list[0].model).toBe("openai/gpt-5.2-mini");
  expect(Object.keys(configuration.channels.telegram.accounts)).toEqual(["home"]);
  expect(configuration.mcp.servers).toEqual({
    docs: { url: "http://127.0.0.1:9/mcp" },
    mail: { command: "mail", cwd: "/srv", callMs: 5_000 },
    [toServerName("日程")]: { command: "calendar" },
  });
  expect(report.items.find(({ id }) => id === "tools.mcpServers.docs.url")?.why).toContain(
    "mcp__docs__find is",
  );
  expect(configuration.tools.web.search).toEqual({ engine: "searxng", url: "http://127.0.0.1:9" });
  expect(configuration.media.transcription).toBe("openai/whisper-1");
});

it("keeps conversations that nobody can continue on the web page if asked to", async () => {
  const { report, store } = await run(createNanobotSource(), {
    system: "nanobot",
    all: true,
    keepUnsupported: true,
  });
  expect(stateOf(report, "discord:77")).toBe("changed");
  expect(stateOf(report, "cli:direct")).toBe("changed");
  const kept = (await store.sessions.list()).filter(({ peer }) => peer?.startsWith("import-"));
  expect(kept).toHaveLength(2);
  for (const { data } of kept) expect(data).toMatchObject({ taint: { sources: ["history"] } });
});
