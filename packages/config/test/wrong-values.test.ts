import { describe, expect, it } from "vitest";
import { formatProblem } from "../src/index.ts";
import { load, only } from "./load-text.ts";

describe("an invalid configuration", () => {
  it("names the expected type of a value", () => {
    const list = only(load("agents: [{ id: coder, tools: { allow: [read] } }]"));
    expect(list).toMatchObject({ path: "agents", severity: "error" });
    expect(list.message).toContain("mapping");
    expect(load("agents: 5").config.agents.defaults.tools).toEqual({ allow: [] });
    expect(load("agents:").config.agents.defaults.tools).toBeUndefined();
    expect(only(load("models: [1]"))).toMatchObject({ path: "models" });
    const tools = only(load("agents: { list: [{ id: a, tools: [read] }] }"));
    expect(formatProblem(tools)).not.toContain("missing");
    expect(formatProblem(only(load("agents: { list: [{ name: a }] }")))).toContain("is missing: text");
  });

  it("leaves out an MCP server with any mistake", () => {
    const { config, problems } = load(
      `
mcp:
  servers:
    files: { command: npx, args: [-y, server], env: { API_KEY: "\${KEY}" } }
    web: { url: "https://example.com/mcp", headers: { authorization: "Bearer \${KEY}" } }
    Bad_name: { command: npx }
    both: { command: npx, url: "https://example.com" }
    neither: {}
    unset: { command: npx, env: { API_KEY: "\${MISSING}" } }
    misspelt: { command: npx, arg: [x] }
`,
      { KEY: "abcdefgh" },
    );
    expect(Object.keys(config.mcp.servers)).toEqual(["files", "web"]);
    expect(config.mcp.servers["files"]).toMatchObject({ env: { API_KEY: "abcdefgh" }, startMs: 30_000 });
    expect(problems.map(({ path }) => path)).toEqual([
      "mcp.servers.Bad_name",
      "mcp.servers.both",
      "mcp.servers.neither",
      "mcp.servers.unset.env.API_KEY",
      "mcp.servers.misspelt.arg",
    ]);
    expect(load("").config.mcp).toEqual({ servers: {} });
  });

  it("allows no tools if a rule for them is invalid", () => {
    const tools = `{ profile: coding, roles: { guest: { allow: [] } }, conversations: { group: { deny: [exec] } }, models: { google: { deny: [exec] } } }`;
    const { config, problems } = load(`agents: { list: [{ id: a, tools: ${tools} }] }`);
    expect(problems).toEqual([]);
    expect(config.agents.list[0]?.tools).toMatchObject({
      profile: "coding",
      roles: { guest: { allow: [] } },
    });
    expect(load("agents: { list: [{ id: a, tools: { profile: everything } }] }").config.agents.list).toEqual([
      { id: "main" },
    ]);
    expect(
      load("agents: { defaults: { tools: { roles: { guest: { allow: 5 } } } } }").config.agents.defaults,
    ).toEqual({
      tools: { allow: [] },
    });
  });

  it.each([
    [
      "tools: { web: { search: { engine: brav } } }",
      'tools.web.search.engine: "brav" is not an allowed value',
      "Did you mean brave?",
    ],
    [
      "tools: { web: { search: {} } }",
      "tools.web.search.engine: is missing",
      "Use one of brave, tavily, searxng.",
    ],
    [
      "session: { reset: { default: { mode: dayly } } }",
      'mode: "dayly" is not an allowed value',
      "Did you mean daily?",
    ],
    [
      "tools: { exec: { domains: ['https://example.org'] } }",
      "domains[0]: must be a lowercase host",
      "Correct the value.",
    ],
    ["channels: { telegram: { accounts: { my bot: {} } } }", "it must be 1 to 64", "another name"],
    ["skills: { entries: { a: { env: { 9X: b } } } }", "it must be the name of a variable", "another name"],
    ["mcp: { servers: { a: { command: b, url: 'http://c' } } }", "exactly one of command and url", "Correct"],
    ["access: { dm: true }", "access.dm: true is not an allowed value", "Use one of pairing"],
    ["memory: { recallTokens: many }", 'must be a number, but is the text "many"', "such as 7."],
    ["memory: { recallTokens: '600' }", 'must be a number, but is the text "600"', "without quotes."],
    [
      "agents: { defaults: { heartbeat: { every: 1x } } }",
      'must be a duration, such as 30m, 2h or 1h 30m, but is "1x"',
      "Correct the value.",
    ],
    [
      "models:\n  providers:\n    anthropic:\n    apiKey: abc",
      "models.providers.apiKey: is a setting of a model provider, but is not below the name of one",
      "Indent it below the model provider that it belongs to.",
    ],
    [
      "channels:\n  telegram:\n  accounts: main",
      "channels.accounts: is a setting of a channel",
      "Indent it below the channel",
    ],
  ])("explains the mistake in %s", (text, message, remedy) => {
    const said = formatProblem(only(load(text)));
    expect(said).toContain(message);
    expect(said).toContain(remedy);
  });

  it("ignores unknown keys, reports them, and uses the rest", () => {
    const loaded = load(
      "agents:\n  list:\n    - id: a\n      modle: x/y\n      tools: { allow: [read] }\nspeling: 1\n",
    );
    expect(loaded.problems.map((p) => [p.severity, p.path, p.line])).toEqual([
      ["warning", "agents.list[0].modle", 4],
      ["warning", "speling", 6],
    ]);
    expect(loaded.config.agents.list).toEqual([{ id: "a", tools: { allow: ["read"] } }]);
  });

  it.each([
    ["tools: { profile: full, dney: [exec] }", { tools: { allow: [] } }, "agents.list[0].tools"],
    ["skills: { dney: [x] }", { skills: { allow: [] } }, "agents.list[0].skills"],
  ])("gives an agent nothing of a mapping with a misspelled key: %s", (text, expected, place) => {
    const { problems, config } = load(`agents: { list: [{ id: a, ${text} }] }`);
    expect(problems).toMatchObject([
      { severity: "error", message: "unknown key", disables: `everything that ${place} allows` },
    ]);
    expect(problems[0]?.remedy).toContain("Did you mean deny?");
    expect(config.agents.list).toEqual([{ id: "a", ...expected }]);
  });

  it("leaves out only the invalid settings of links and of the web", () => {
    const loaded = load(
      "links: { mode: always, max: 5 }\ntools: { web: { allow: ['wiki.internal:443', nowhere], timeoutMs: 5000 } }\n",
    );
    expect(loaded.problems.map(({ path, disables }) => [path, disables])).toEqual([
      ["links.mode", "the setting links.mode"],
      ["tools.web.allow[1]", "the setting tools.web.allow[1]"],
    ]);
    expect(loaded.config.links).toEqual({ mode: "off", max: 5, maxChars: 8_000 });
    expect(loaded.config.tools.web).toEqual({ allow: ["wiki.internal:443"], timeoutMs: 5_000 });
    expect(loaded.config.tools.exec.sandbox).toBe("bubblewrap");
  });

  it("blocks all calls if a budget is invalid", () => {
    const budgets = (text: string) => load(`budgets: ${text}\n`);
    expect(budgets("[{ of: sender, usd: 2 }]").config.budgets).toEqual([
      { of: "sender", per: "day", usd: 2, warnAt: 0.8, action: "stop" },
    ]);
    const closed = { of: "all", tokens: 0, action: "stop" };
    for (const wrong of [
      "[{ of: sender }]",
      "[{ of: sender, usd: 2, tokens: 5 }]",
      "[{ of: sender, usd: two }]",
      "[{ of: agent, usd: 2, action: cheaper }]",
      "[{ of: agent, usd: 2, model: a/b }]",
      "[{ of: all, name: a, usd: 2 }]",
      "{ of: all, usd: 2 }",
    ]) {
      const loaded = budgets(wrong);
      expect(loaded.config.budgets, wrong).toMatchObject([closed]);
      expect(loaded.problems, wrong).toMatchObject([{ severity: "error" }]);
    }
  });

  it("removes nothing if a retention setting is invalid", () => {
    const { retention } = load("").config;
    expect(retention).toMatchObject({ tracesDays: 7, databaseMegabytes: 4_000, dedupeDays: 14 });
    expect(retention.idleSessionsDays).toBeUndefined();
    const loaded = load(
      "retention: { tracesDays: '90', idleSessionsDays: -1, inboxDays: 2, dedupeDays: 3 }\n",
    );
    expect(loaded.problems.map(({ path }) => path).toSorted()).toEqual([
      "retention.dedupeDays",
      "retention.idleSessionsDays",
      "retention.tracesDays",
    ]);
    expect(loaded.config.retention).toEqual({
      ...retention,
      tracesDays: 36_500,
      dedupeDays: 36_500,
      inboxDays: 2,
    });
    const all = load("retention: forever\n").config.retention;
    for (const [key, value] of Object.entries(retention))
      expect(all, key).toHaveProperty(
        key,
        expect.toSatisfy((kept: number) => kept > (value ?? 0)),
      );
  });

  it("turns commands off if one of their settings is invalid", () => {
    const loaded = load("tools: { exec: { sandbox: off, timeoutMs: soon } }\n");
    expect(only(loaded)).toMatchObject({ path: "tools.exec.timeoutMs", disables: "exec" });
    expect(loaded.config.tools.exec.sandbox).toBe("off");
  });

  it("turns heartbeats off if their defaults are invalid", () => {
    const defaults = (heartbeat: string) => load(`agents: { defaults: { heartbeat: ${heartbeat} } }\n`);
    for (const every of ["1m", "30m", "2h", "1h 30m", "1h30m"])
      expect(defaults(`{ every: ${every} }`).problems).toEqual([]);
    for (const [heartbeat, path] of [
      ["{ every: 30s }", "every"],
      ['{ every: "" }', "every"],
      ["{ every: 0m }", "every"],
      ["{ activeHours: { from: 8, to: 22:00 } }", "activeHours.from"],
      ["{ activeHours: { from: 08:00, to: 24:30 } }", "activeHours.to"],
      ["{ activeHours: { from: 08:00, to: 08:00 } }", "activeHours.to"],
      ["{ activeHours: { from: 08:00, to: 22:00, zone: Asia/Shangai } }", "activeHours.zone"],
      ["{ to: everybody }", "to"],
    ] as const) {
      const loaded = defaults(heartbeat);
      expect(only(loaded).path).toBe(`agents.defaults.heartbeat.${path}`);
      expect(loaded.config.agents.defaults.heartbeat).toEqual({ enabled: false });
    }
    expect(defaults("{ activeHours: { from: 22:00, to: 06:00 }, to: owner }").problems).toEqual([]);
    expect(defaults("{ activeHours: { from: 08:00, to: 24:00 } }").problems).toEqual([]);
  });

  it("disables only the part that an invalid value belongs to", () => {
    const loaded = load("agents:\n  list:\n    - id: good\n    - id: bad\n      thinking: enormous\n");
    expect(only(loaded)).toMatchObject({ path: "agents.list[1].thinking", line: 5, disables: "agent bad" });
    expect(only(loaded).remedy).toContain("medium");
    expect(loaded.config.agents.list).toEqual([{ id: "good" }]);
  });

  it("reports a time zone that does not exist", () => {
    const loaded = load("session: { reset: { group: { mode: daily, hour: 5, timeZone: Asia/Shangai } } }");
    expect(only(loaded)).toMatchObject({
      path: "session.reset.group.timeZone",
      message: expect.stringContaining("not a known time zone"),
    });
    expect(loaded.config.session.reset.group).toEqual({ mode: "daily", hour: 5 });
    expect(
      load("session: { reset: { default: { mode: daily, timeZone: Asia/Shanghai } } }").problems,
    ).toEqual([]);
    expect(only(load("session: { timeZones: { alice: CST } }"))).toMatchObject({
      path: "session.timeZones.alice",
      message: expect.stringContaining("not a known time zone"),
    });
  });

  it("leaves out only the invalid value of a section", () => {
    const loaded = load(
      "agents:\n  defaults:\n    model: a/b\n    thinking: enormous\n    fallbacks: [c/d, nonsense, e/f, 7]\nsession:\n  dmScope: everywhere\n  queue: { mode: collect, cap: none }\n  reset: { default: { mode: dayly }, direct: { mode: idle } }\n",
    );
    expect(loaded.problems.map(({ path, line }) => [path, line])).toEqual([
      ["agents.defaults.thinking", 4],
      ["agents.defaults.fallbacks[1]", 5],
      ["agents.defaults.fallbacks[3]", 5],
      ["session.dmScope", 7],
      ["session.queue.cap", 8],
      ["session.reset.default.mode", 9],
      ["session.reset.direct.minutes", 9],
    ]);
    expect(loaded.problems[0]).toMatchObject({ disables: "the setting agents.defaults.thinking" });
    expect(loaded.config.agents.defaults).toEqual({ model: "a/b", fallbacks: ["c/d", "e/f"] });
    expect(loaded.config.session).toMatchObject({
      dmScope: "per-channel-peer",
      queue: { mode: "collect", cap: 20 },
      reset: { default: { mode: "none" } },
    });
  });

  it.each([
    ["access: { dm: of, allow: [feishu:a] }", { dm: "off", allow: ["feishu:a"] }],
    ["access: off", { dm: "off", groups: { mode: "off" } }],
    [
      "access: { groups: { mode: al, allow: [feishu:g] } }",
      { groups: { mode: "off", requireMention: true } },
    ],
    ["access: { groups: none }", { dm: "pairing", groups: { mode: "off" } }],
    [
      "access: { groups: { mode: open, requireMention: 'yes', historyLimit: none } }",
      { groups: { mode: "open", requireMention: true, historyLimit: 0 } },
    ],
    ["access: { groups: { people: everyone } }", { groups: { people: "members" } }],
    ["access: { groups: { mode: open, rules: [] } }", { groups: { mode: "off" } }],
    [
      "access: { groups: { mode: open, rules: { 'feishu:g': { people: [], prompt: hi } } } }",
      { groups: { mode: "open", rules: { "feishu:g": { people: "listed", tools: { allow: [] } } } } },
    ],
    [
      "access: { groups: { rules: { 'feishu:g': { tools: { deny: exec } } } } }",
      { groups: { rules: { "feishu:g": { people: "listed", tools: { allow: [] } } } } },
    ],
    [
      "access: { groups: { rules: { 'feishu:g': { poeple: listed, allow: ['feishu:a'] } } } }",
      { groups: { rules: { "feishu:g": { people: "listed", tools: { allow: [] } } } } },
    ],
    [
      "access: { groups: { rules: { 'feishu:g': { tool: { allow: [] } }, 'feishu:h': { tools: { alow: [] } } } } }",
      {
        groups: {
          rules: {
            "feishu:g": { people: "listed", tools: { allow: [] } },
            "feishu:h": { people: "listed", tools: { allow: [] } },
          },
        },
      },
    ],
    ["access: { dm: allowlist, allow: feishu:a }", { dm: "allowlist", allow: [] }],
    [
      "access: { dmm: off, owners: [feishu:a], groups: { mode: open } }",
      { dm: "off", owners: ["feishu:a"], groups: { mode: "off" } },
    ],
    [
      "access: { dm: open, groups: { mode: open, poeple: members, requireMention: false } }",
      { dm: "open", groups: { mode: "off", requireMention: false } },
    ],
    [
      "access: { dm: allowlist, allow: [feishu:a, 7], owners: [[]] }",
      { dm: "allowlist", allow: ["feishu:a"], owners: [] },
    ],
  ])("admits nobody by mistake: %s", (text, expected) => {
    const loaded = load(text);
    const errors = loaded.problems.filter(({ severity }) => severity === "error");
    expect(errors).not.toEqual([]);
    expect(errors.every(({ line }) => line === 1)).toBe(true);
    expect(loaded.config.access).toMatchObject(expected);
  });

  it("reports every mistake of a group's rule as an error, with suggestions for misspelled keys", () => {
    const { problems } = load(
      "access: { groups: { rules: { 'feishu:g': { poeple: listed, requireMention: 7, tool: { allow: [] } } } } }",
    );
    const errors = problems.filter(({ severity }) => severity === "error");
    expect(errors.map(({ path }) => path.split(".").at(-1))).toEqual(["poeple", "tool", "requireMention"]);
    expect(errors[0]?.disables).toBe("everything that access.groups.rules.feishu:g allows");
    expect(problems[0]).toMatchObject({ message: "unknown key" });
    expect(problems[0]?.remedy).toContain("people");
    expect(problems[0]?.ignored).toBeUndefined();
  });

  it("lets a thread's rule follow the list of its channel unless it has one", () => {
    const { config } = load("access: { groups: { rules: { 'feishu:g': { prompt: hi } } } }");
    expect(config.access.groups.rules["feishu:g"]?.allow).toBeUndefined();
  });

  it.each([
    [
      "agents: { defaults: { model: a/b, tools: { allow: [read], deny: exec } } }",
      { model: "a/b", tools: { allow: [] } },
    ],
    ["agents: { defaults: { model: a/b, skills: { allow: [7] } } }", { model: "a/b", skills: { allow: [] } }],
    [
      "agents: { defaults: 7 }",
      { tools: { allow: [] }, skills: { allow: [] }, heartbeat: { enabled: false } },
    ],
    ["agents: { defaults: { model: a/b, tools: { alow: [read] } } }", { model: "a/b", tools: { allow: [] } }],
  ])("gives agents nothing by mistake: %s", (text, expected) => {
    const loaded = load(text);
    expect(only(loaded).severity).toBe("error");
    expect(loaded.config.agents.defaults).toEqual(expected);
  });

  it.each([
    ["memory: off", { enabled: false }],
    ["memory: { enabled: off, recallTokens: 5 }", { enabled: false, recallTokens: 5 }],
    ["memory: { consolidate: no }", { enabled: true, consolidate: false }],
  ])("remembers nothing by mistake: %s", (text, expected) => {
    const loaded = load(text);
    expect(only(loaded).severity).toBe("error");
    expect(loaded.config.memory).toMatchObject(expected);
  });

  it.each([
    ["limits: { turns: 9, costMicros: 5.5 }", { turns: 9, costMicros: 1 }],
    ["limits: 5", { turns: 1 }],
  ])("removes no limit by mistake: %s", (text, limits) => {
    const loaded = load(`agents: { defaults: { ${text} } }`);
    expect(only(loaded).severity).toBe("error");
    expect(loaded.config.agents.defaults).toEqual({ limits });
  });

  it.each([
    ["access: { dm: '${X}' }", "access.dm", "the setting access.dm", { access: { dm: "off" } }],
    ["access: '${X}'", "access", "the setting access", { access: { dm: "off", groups: { mode: "off" } } }],
    [
      "agents: { defaults: { tools: { profile: '${X}' } } }",
      "agents.defaults.tools.profile",
      "the setting agents.defaults.tools.profile",
      { agents: { defaults: { tools: { allow: [] } } } },
    ],
    [
      "agents: { list: [{ id: a }, { id: b, tools: { profile: full, deny: '${X}' } }] }",
      "agents.list[1].tools.deny",
      "agent b",
      { agents: { list: [{ id: "a" }] } },
    ],
    [
      "bindings: [{ agent: main, match: { channel: discord, guildId: '${X}' } }]",
      "bindings[0].match.guildId",
      "binding 0",
      { bindings: [] },
    ],
    ["tools: { exec: { ask: '${X}' } }", "tools.exec.ask", "exec", { tools: { exec: { sandbox: "off" } } }],
    [
      "hooks: { gate: { at: '${X}', url: 'http://127.0.0.1/' } }",
      "hooks.gate.at",
      "hook gate",
      { hooks: {}, pointHooks: { gate: undefined } },
    ],
    ["budgets: '${X}'", "budgets", undefined, { budgets: [{ of: "all", tokens: 0 }] }],
    [
      "models: { providers: { a: { api: openai-chat, apiKey: [one, '${X}'] } } }",
      "models.providers.a.apiKey[1]",
      "model provider a",
      { models: { providers: {} } },
    ],
  ])("allows no more if a variable is not set: %s", (text, path, disables, expected) => {
    const loaded = load(text);
    const problem = only(loaded);
    expect(problem).toMatchObject({
      severity: "error",
      path,
      message: "the environment variable X is not set",
    });
    expect(problem.disables).toBe(disables);
    expect(loaded.config).toMatchObject(expected);
  });

  it("passes only resolved settings to a channel, and reports which account lacks one", () => {
    const loaded = load("channels: { slack: { accounts: { main: { botToken: b, secret: '${X}' } } } }");
    expect(only(loaded)).toMatchObject({
      path: "channels.slack.accounts.main.secret",
      disables: "channel account slack/main",
    });
    expect(loaded.config.channels["slack"]?.accounts).toEqual({ main: { botToken: "b" } });
  });

  it.each(["enabled: 'no'", "enabled: 0"])("keeps a skill turned off by mistake: %s", (text) => {
    const loaded = load(`skills: { load: { extraDirs: [a] }, entries: { one: { ${text} } } }`);
    expect(only(loaded).path).toBe("skills.entries.one.enabled");
    expect(loaded.config.skills).toEqual({
      load: { extraDirs: ["a"] },
      entries: { one: { enabled: false } },
    });
  });

  it("leaves out a binding to an unknown agent", () => {
    const loaded = load(
      "agents: { list: [{ id: coder }] }\nbindings:\n  - { agent: codre, match: { channel: feishu } }\n",
    );
    expect(only(loaded)).toMatchObject({
      path: "bindings[0].agent",
      line: 3,
      message: "there is no agent codre",
    });
    expect(only(loaded).remedy).toContain("coder");
    expect(loaded.config.bindings).toEqual([]);
  });

  it("keeps the first of two agents with the same id", () => {
    const loaded = load("agents: { list: [{ id: a, name: First }, { id: a, name: Second }] }");
    expect(only(loaded).path).toBe("agents.list[1].id");
    expect(loaded.config.agents.list).toEqual([{ id: "a", name: "First" }]);
  });

  it.each([
    ["gateway: { port: 99999 }", /signalbox\.yaml:1: gateway\.port/],
    ["gateway: { auth: { token: short } }", /gateway\.auth\.token/],
    ["gateway: { auth: { token: '${NO_TOKEN}' } }", /NO_TOKEN/],
    ["gateway: { auth: { oidc: { issuer: 'http://login.example.org', clientId: a } } }", /start with https/],
    [
      "gateway: { auth: { oidc: { issuer: 'https://a.example', clientId: a, audience: a } } }",
      /differ from clientId/,
    ],
    [
      "gateway: { auth: { oidc: { issuer: 'https://a.example', clientId: a, scopes: [email] } } }",
      /contain openid/,
    ],
    ["gateway: { auth: { proxy: { addresses: ['0.0.0.0/0'] } } }", /would trust every address/],
    ["gateway: { auth: { proxy: { addresses: [proxy.local] } } }", /must be an IP address/],
    ["gateway: { auth: { proxy: { addresses: [] } } }", /gateway\.auth\.proxy\.addresses/],
    ["a: [1", /not valid YAML/],
    ["- just\n- a list", /must be a mapping/],
    ["a: 1\na: 2", /:2: not valid YAML: the key is set twice/],
  ])("throws for %s", (text, message) => {
    expect(() => load(text)).toThrow(message);
  });

  it.each([
    ["agents:\n  list:\n    - id: x\n       model: y\n", /:3: .*indented too far/],
    ["gateway:\n  port: 1\n   host: x\n", /:2: .*indented too far/],
    ["a:\n  b: 1\n c: 2\n", /indentation is wrong/],
    ["a:\n\tb: 1\n", /:2: .*indented with a tab/],
    ["a: @x\n", /Write the value in quotes/],
    ["a: [1, 2\nb: 3\n", /bracket is not closed/],
  ])("explains one syntax error in plain words: %j", (text, message) => {
    expect(() => load(text)).toThrow(message);
    expect(() => load(text)).not.toThrow(/\n/);
  });

  it("reports invalid entries of access by their position in the file", () => {
    const { config, problems } = load("access:\n  owners:\n    - 7\n    - ${GONE}\n    - feishu:ou_1\n");
    expect(config.access.owners).toEqual(["feishu:ou_1"]);
    expect(problems.map(({ path, line }) => `${line} ${path}`)).toEqual([
      "3 access.owners[0]",
      "4 access.owners[1]",
      "5 access.owners[2]",
    ]);
  });

  it("reports all other mistakes when it throws", () => {
    const read = () => load("speling: 1\ngateway: { port: 99999 }\naccess: { dm: of }\n");
    expect(read).toThrow(/:1: speling: .*\n.*:2: gateway\.port: .*\n.*:3: access\.dm: /);
  });

  it("does not let a file pollute prototypes", () => {
    const { config } = load('channels: { "__proto__": { accounts: { polluted: {} } } }');
    expect(Object.hasOwn(Object.prototype, "accounts")).toBe(false);
    expect(({} as Record<string, unknown>)["accounts"]).toBeUndefined();
    expect(config.gateway.port).toBe(4747);
  });
});
