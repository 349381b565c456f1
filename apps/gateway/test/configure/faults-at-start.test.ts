import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import {
  demoConfig,
  eventually,
  exampleConfig,
  feishuAccount,
  inboxRows,
  openWorld,
  TOKEN,
  type World,
  ZHANG,
} from "../support/harness.ts";

/** What an operator sees of `signalbox start --strict`, but for its log. */
async function strict(world: World): Promise<{ code: number; lines: string[] }> {
  const { code, out, err } = await world.command(["start", "--strict"]);
  expect(out).toBe("");
  return { code, lines: err.trim().split("\n") };
}

/** Of which most is loaded as it was built. */
const PROGRAM = join(import.meta.dirname, "..", "..", "dist");

const agent = (more: object) => ({
  list: [{ id: "coder", tools: { allow: ["read"] }, skills: { allow: [] }, ...more }],
});

/** A configuration with one fault, where it is, and what its one message must say. */
const FAULTS: readonly {
  readonly name: string;
  readonly config: (world: World) => Readonly<Record<string, unknown>>;
  readonly at: string;
  readonly says: RegExp;
  readonly remedy: RegExp;
  /** Whether the agent `coder` still answers without --strict. */
  readonly answers: boolean;
}[] = [
  {
    name: "a binding to no agent",
    config: () => exampleConfig({ bindings: [{ agent: "codr", match: { channel: "feishu" } }] }),
    at: "bindings[0].agent",
    says: /codr/,
    remedy: /coder/,
    answers: true,
  },
  {
    name: "an unknown tool",
    config: () => demoConfig({ agents: agent({ tools: { allow: ["read", "wirte"] } }) }),
    at: "agents.list[0].tools.allow",
    says: /wirte/,
    remedy: /write/,
    answers: true,
  },
  {
    name: "an unknown skill",
    config: () => demoConfig({ agents: agent({ skills: { allow: ["no-such-skill"] } }) }),
    at: "agents.list[0].skills.allow",
    says: /no-such-skill/,
    remedy: /SKILL\.md/,
    answers: true,
  },
  {
    name: "a missing environment variable",
    config: () =>
      exampleConfig({
        channels: { feishu: { accounts: { main: feishuAccount({ appSecret: "${NOT_SET}" }) } } },
      }),
    at: "channels.feishu.accounts.main.appSecret",
    says: /NOT_SET/,
    remedy: /NOT_SET/,
    answers: true,
  },
  {
    name: "a Feishu account without secret",
    config: () =>
      exampleConfig({
        channels: { feishu: { accounts: { main: feishuAccount({ appSecret: undefined }) } } },
      }),
    at: "channels.feishu.accounts.main.appSecret",
    says: /missing/,
    remedy: /developer console/,
    answers: true,
  },
  {
    name: "a provider without key",
    config: () => demoConfig({ models: { providers: { anthropic: { api: "anthropic-messages" } } } }),
    at: "models.providers.anthropic.apiKey",
    says: /no key/,
    remedy: /ANTHROPIC_API_KEY/,
    answers: true,
  },
  {
    name: "a model whose vendor has no key, where no other has one either",
    config: () => demoConfig({ agents: agent({ model: "anthropic/claude-sonnet-4-6" }) }),
    at: "agents.list[0].model",
    says: /the provider anthropic has no key/,
    remedy: /ANTHROPIC_API_KEY/,
    answers: false,
  },
  ...[
    {
      name: "whose address is in a variable that is not set",
      entry: { baseUrl: "${NO_SUCH_PROXY}" },
      at: "baseUrl",
    },
    { name: "with a misspelt address", entry: { baseURL: "https://proxy.test" }, at: "baseURL" },
    { name: "without a wire format", entry: { api: undefined }, at: "api" },
  ].map(({ name, entry, at }) => ({
    // Not asked at the vendor's own address either, whatever key the environment holds.
    name: `a provider ${name}`,
    config: () =>
      demoConfig({
        models: { providers: { anthropic: { api: "anthropic-messages", apiKey: "sk-wrong", ...entry } } },
      }),
    at: `models.providers.anthropic.${at}`,
    says: /not set|unknown key|is missing/,
    remedy: /./,
    answers: true,
  })),
  {
    name: "a workspace that does not exist",
    config: ({ dir }) => demoConfig({ agents: agent({ workspaceDir: join(dir, "nowhere") }) }),
    at: "agents.list[0].workspaceDir",
    says: /nowhere does not exist/,
    remedy: /Create the folder/,
    answers: false,
  },
  {
    name: "a workspace that is a file",
    config: ({ dir }) => {
      writeFileSync(join(dir, "file"), "");
      return demoConfig({ agents: agent({ workspaceDir: join(dir, "file") }) });
    },
    at: "agents.list[0].workspaceDir",
    says: /file is not a folder/,
    remedy: /Create the folder/,
    answers: false,
  },
  ...[
    { name: "the home", place: ({ home }: World) => home.dir, says: /is or contains the gateway's home/ },
    { name: "around the home", place: ({ dir }: World) => dir, says: /is or contains/ },
    { name: "in the home", place: ({ home }: World) => home.skillsDir, says: /but not in a folder of/ },
    { name: "where the program is", place: () => PROGRAM, says: /contains the program of the gateway/ },
    {
      name: "around the program",
      place: () => dirname(PROGRAM),
      says: /contains the program of the gateway/,
    },
    {
      name: "a link to the home",
      place: ({ dir, home }: World) => {
        symlinkSync(home.dir, join(dir, "link"));
        return join(dir, "link");
      },
      says: /is or contains the gateway's home/,
    },
  ].map(({ name, place, says }) => ({
    name: `a workspace that is ${name}`,
    config: (world: World) => {
      const workspaceDir = place(world);
      mkdirSync(workspaceDir, { recursive: true });
      return demoConfig({ agents: agent({ workspaceDir }) });
    },
    at: "agents.list[0].workspaceDir",
    says,
    remedy: /choose another/,
    answers: false,
  })),
  {
    name: "a channel that does not exist",
    config: () => demoConfig({ channels: { pigeon: { accounts: { main: {} } } } }),
    at: "channels.pigeon",
    says: /no such channel/,
    remedy: /feishu/,
    answers: true,
  },
  {
    name: "a wrong value",
    config: () => demoConfig({ agents: { ...agent({}), defaults: { thinking: "hard" } } }),
    at: "agents.defaults.thinking",
    says: /not an allowed value/,
    remedy: /off, minimal, low/,
    answers: true,
  },
];

const root = process.getuid?.() === 0;
if (root) console.info("skipped: folders that cannot be written, since the superuser may write everywhere.");

describe("a configuration with a fault", () => {
  it.each(FAULTS)("$name: one message with place and remedy, and --strict refuses", async (fault) => {
    const world = await openWorld();
    world.configure(fault.config(world));
    const { code, lines } = await strict(world);
    expect(code).toBe(78);
    expect(lines).toHaveLength(2);
    const [first = "", last] = lines;
    expect(first).toMatch(/^error: /);
    // File and line, the field, what is wrong, what to do.
    expect(first).toMatch(new RegExp(`${escaped(world.home.configFile)}:\\d+: ${escaped(fault.at)}: `));
    expect(first).toMatch(fault.says);
    expect(first).toMatch(fault.remedy);
    expect(last).toMatch(/^signalbox: Not started: the configuration has errors, and --strict was given/);
  });

  it("ends a process in the same way, which writes nothing else", async () => {
    const world = await openWorld();
    world.configure(demoConfig({ agents: agent({ tools: { allow: ["wirte"] } }) }));
    const child = world.run(["start", "--strict"]);
    expect((await child.exited).code).toBe(78);
    const { lines } = await strict(world);
    expect(child.stdout()).toBe("");
    expect(child.stderr().trim().split("\n")).toEqual(lines);
  });

  it.skipIf(root)("a workspace that cannot be written", async () => {
    const world = await openWorld();
    const workspaceDir = join(world.dir, "locked");
    mkdirSync(workspaceDir, { mode: 0o500 });
    world.configure(demoConfig({ agents: agent({ workspaceDir }) }));
    const { code, lines } = await strict(world);
    expect(code).toBe(78);
    expect(lines[0]).toMatch(/agents\.list\[0\]\.workspaceDir: the workspace .*locked cannot be used/);
  });

  it("goes on with what is right", async () => {
    const world = await openWorld();
    const { dir } = world;
    world.configure(
      exampleConfig({
        agents: {
          list: [
            { id: "lost", workspaceDir: join(dir, "nowhere") },
            { id: "coder", tools: { allow: ["read", "wirte"] }, skills: { allow: ["no-such-skill"] } },
          ],
        },
        channels: {
          feishu: { accounts: { main: feishuAccount(), other: feishuAccount({ appSecret: undefined }) } },
          pigeon: { accounts: { main: {} } },
        },
        bindings: [
          { agent: "codr", match: { channel: "feishu", account: "other" } },
          { agent: "coder", match: { channel: "feishu", account: "main" } },
        ],
      }),
    );
    world.script([{ text: "here" }]);
    const child = await world.startChild();
    const errors = child
      .stderr()
      .split("\n")
      .filter((line) => line.startsWith("error: "));
    expect(errors).toHaveLength(6);
    await eventually(async () => {
      const { out } = await world.command(["logs"]);
      return errors.every((error) => out.includes(error.slice("error: ".length)));
    }, "the log tells them later, in the same words");
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const body = JSON.stringify({
      model: "signalbox/coder",
      messages: [{ role: "user", content: "there?" }],
    });
    const answer = await fetch(`${child.url}/v1/chat/completions`, { method: "POST", headers, body });
    expect(await answer.json()).toMatchObject({ choices: [{ message: { content: "here" } }] });
    const status = await (await fetch(`${child.url}/api/status`, { headers })).json();
    expect(status).toMatchObject({
      agents: [{ id: "coder" }],
      channels: [{ channel: "feishu", account: "main", state: "ready" }],
    });
    expect(await child.end("SIGTERM")).toEqual({ code: 0, signal: null });
  });

  it("says that an agent cannot work rather than let another one answer", async () => {
    const world = await openWorld();
    const { dir } = world;
    world.configure(
      exampleConfig({
        agents: { list: [{ id: "lost", workspaceDir: join(dir, "nowhere") }, { id: "coder" }] },
      }),
    );
    const started = await world.start();
    expect((await started.post(textMessage("hi", { senderId: ZHANG }))).status).toBe(200);
    await eventually(() => world.feishu.sent.length > 0, "the person is told");
    expect(world.feishu.sent[0]?.content).toMatch(/not set up to answer/);
    await started.stop();
    const rows = await inboxRows(world);
    expect(rows.map(({ state, detail }) => [state, detail?.rule])).toEqual([["failed-reported", "no_agent"]]);
    expect(world.anthropic.requests).toEqual([]);
  });

  it("shows the same in `config check`, and nothing where nothing is wrong", async () => {
    const world = await openWorld();
    world.configure(demoConfig({ agents: agent({ tools: { allow: ["wirte"] } }) }));
    const faulty = await world.command(["config", "check", "--json"]);
    expect(faulty.code).toBe(78);
    expect(JSON.parse(faulty.out)).toEqual([
      expect.objectContaining({
        severity: "error",
        path: "agents.list[0].tools.allow",
        line: expect.any(Number),
      }),
    ]);
    world.configure(exampleConfig());
    expect(await world.command(["config", "check"])).toMatchObject({
      code: 0,
      out: `${world.home.configFile}: no problems.\n`,
    });
  });

  it("shows every problem there and in `doctor`, each by itself, also of what cannot start", async () => {
    const world = await openWorld();
    world.configure("gateway: { port: 70000 }\naccess: { dm: of }\n");
    const checked = await world.command(["config", "check", "--json"]);
    expect(checked.code).toBe(78);
    expect(JSON.parse(checked.out)).toMatchObject([
      { severity: "error", path: "gateway.port", line: 1 },
      { severity: "error", path: "access.dm", line: 2 },
    ]);
    const { out } = await world.command(["doctor"]);
    expect(out).toMatch(/error {3}configuration: .*:1: gateway\.port/);
    expect(out).toMatch(/error {3}configuration: .*:2: access\.dm/);
  });

  it.each([
    ["not YAML at all", "gateway: [", /signalbox\.yaml:\d+/],
    [
      "a port that is none",
      "gateway: { port: 70000 }",
      /signalbox\.yaml:1: gateway\.port: .*65535|signalbox\.yaml:1: gateway\.port/,
    ],
    ["a short token", "gateway: { auth: { token: short } }", /signalbox\.yaml:1: gateway\.auth\.token/],
    [
      "a missing variable in the gateway's own part",
      "gateway: { auth: { token: '${NOT_SET}' } }",
      /signalbox\.yaml:1: gateway\.auth\.token: .*NOT_SET/,
    ],
  ])("with %s nothing starts", async (_, text, says) => {
    const world = await openWorld();
    world.configure(text);
    const { code, err } = await world.command(["start"]);
    expect(code).toBe(78);
    const lines = err.trim().split("\n");
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^signalbox: /);
    expect(lines[0]).toMatch(says);
  });

  it("reports what it ignores and starts; with --strict it does not", async () => {
    const world = await openWorld();
    world.configure(demoConfig({ agents: agent({ namme: "Helper" }) }));
    const said =
      /^warning: .*signalbox\.yaml:\d+: agents\.list\[0\]\.namme: unknown key \(ignored\)\. Did you mean name\?/m;
    const { code, lines } = await strict(world);
    expect(code).toBe(78);
    expect(lines[0]).toMatch(said);
    expect(lines.at(-1)).toBe(
      "signalbox: Not started: the configuration has settings that are ignored, and --strict was given.",
    );
    const child = await world.startChild();
    expect(child.stderr()).toMatch(said);
  });

  it("starts with advice, also with --strict", async () => {
    const world = await openWorld();
    world.configure(exampleConfig({ agents: agent({ model: "anthropic/claude-of-tomorrow" }) }));
    const child = await world.startChild(["--strict"]);
    expect(child.stderr()).toMatch(/^warning: .*claude-of-tomorrow" is not in the catalogue/m);
  });
});

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

it.each([
  ["YAML", [], (text: string): unknown => parseYaml(text)],
  ["JSON", ["--json"], (text: string): unknown => JSON.parse(text)],
] as const)("`config show` prints what applies as %s", async (_, options, parse) => {
  const world = await openWorld();
  const hooks = { ci: { text: "Look." }, tidy: { at: "before_reply", module: "./tidy" } };
  world.configure(demoConfig({ hooks }));
  const { out } = await world.command(["config", "show", ...options]);
  const shown = parse(out);
  expect(shown).toMatchObject({ gateway: { port: 0, maxRuns: 64 }, hooks });
  expect(shown).not.toHaveProperty("pointHooks");
  expect(out.startsWith("{")).toBe(options.length > 0);
  expect(out).not.toContain(TOKEN);
});

it("a command ends quietly where nobody reads the rest of its output", async () => {
  const world = await openWorld();
  const child = world.run(["config", "schema"]);
  child.process.stdout?.destroy();
  expect(await child.exited).toEqual({ code: 0, signal: null });
  expect(child.stderr()).toBe("");
});
