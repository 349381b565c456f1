import { describe, expect, it } from "vitest";
import { z } from "zod";
import { configJsonSchema, formatProblem, loadConfig } from "../src/index.ts";
import { load, only } from "./load-text.ts";

describe("secrets of a configuration", () => {
  it("collects secrets from the environment and by the names of keys", () => {
    const { secrets } = load(
      "models: { providers: { a: { api: openai-chat, apiKey: sk-direct } } }\nagents: { defaults: { systemPrompt: '${WORD}' } }",
      {
        WORD: "from-env",
      },
    );
    expect(secrets).toEqual(expect.arrayContaining(["sk-direct", "from-env"]));
  });

  it("counts short values as secrets only by the names of their keys", () => {
    const { secrets } = load(
      "channels: { other: { accounts: { main: { appSecret: abc, botToken: '${PIN}' } } } }\nagents: { defaults: { systemPrompt: '${MODE}' } }",
      { PIN: "12", MODE: "info" },
    );
    expect(secrets.toSorted()).toEqual(["12", "abc"]);
  });

  it("reports a missing variable with its line, and leaves the value out", () => {
    const loaded = load(
      "channels:\n  feishu:\n    accounts:\n      main:\n        appSecret: ${NOT_THERE}\n",
    );
    expect(only(loaded)).toMatchObject({
      severity: "error",
      line: 5,
      path: "channels.feishu.accounts.main.appSecret",
    });
    expect(only(loaded).message).toContain("NOT_THERE");
    expect(loaded.config.channels["feishu"]?.accounts["main"]).toEqual({});
  });

  it("reads secrets from files and programs", () => {
    const sources = {
      file: (path: string) => `in ${path}\n`,
      command: (argv: readonly string[]) => `said by ${argv.join(" ")}\n`,
    };
    const { config, problems, secrets } = loadConfig({
      file: "signalbox.yaml",
      env: {},
      sources,
      text: `
models:
  providers:
    a: { api: openai-chat, apiKey: { file: /run/key }, headers: { x-org: "Org \${file:org}" } }
    b: { api: openai-chat, apiKey: [{ command: [pass, show, b] }, plain-key] }
channels:
  plain: { accounts: { main: { botToken: { command: [op, read, x] }, appId: { file: x } } } }
skills: { entries: { a: { config: { command: [not, a, secret] } } } }
`,
    });
    expect(problems).toEqual([]);
    expect(config.models.providers["a"]).toMatchObject({
      apiKey: "in /run/key",
      headers: { "x-org": "Org in org" },
    });
    expect(config.models.providers["b"]?.apiKey).toEqual(["said by pass show b", "plain-key"]);
    // Only where a secret may stand: elsewhere it is a value like any other.
    expect(config.channels["plain"]?.accounts["main"]).toEqual({
      botToken: "said by op read x",
      appId: { file: "x" },
    });
    expect(config.skills.entries["a"]?.config).toEqual({ command: ["not", "a", "secret"] });
    expect(new Set(secrets)).toEqual(
      new Set([
        ...["in /run/key", "in org", "Org in org", "said by pass show b", "plain-key", "said by op read x"],
      ]),
    );
  });

  it("describes references in the JSON Schema only where secrets may stand", () => {
    const { properties } = z.object({ properties: z.record(z.string(), z.json()) }).parse(configJsonSchema());
    const allowsFile = (schema: unknown): boolean =>
      JSON.stringify(schema).includes('"file":{"type":"string"}');
    const { models, hooks, gateway, session, access } = properties;
    expect([models, hooks, gateway].map(allowsFile)).toEqual([true, true, true]);
    expect([session, access].map(allowsFile)).toEqual([false, false]);
  });

  it("reports a source that fails or is empty, and disables what needs it", () => {
    const text = "models:\n  providers:\n    a:\n      api: openai-chat\n      apiKey: { file: gone }\n";
    const failing = {
      file: () => {
        throw new Error("it is not there");
      },
      command: () => "\n",
    };
    const problem = only(loadConfig({ file: "signalbox.yaml", text, env: {}, sources: failing }));
    expect(problem).toMatchObject({ path: "models.providers.a.apiKey", line: 5, severity: "error" });
    expect(problem.message).toBe("cannot read a secret from the file gone: it is not there");
    expect(only(load(text)).message).toContain(
      "reading secrets from files and commands is not supported here",
    );
    const empty = text.replace("{ file: gone }", "{ command: [pass] }");
    expect(only(loadConfig({ file: "signalbox.yaml", text: empty, env: {}, sources: failing })).message).toBe(
      "cannot read a secret from the command pass: it is empty",
    );
  });

  it("finds secrets by key, in headers, in arguments and in URLs", () => {
    const { secrets } = load(`
models:
  providers:
    a:
      api: openai-chat
      baseUrl: https://user:in-the-url@models.example/v1
      headers: { authorization: "Bearer in-the-header", x-api: other-header, user-agent: signalbox }
gateway: { auth: { token: token-of-the-gateway } }
hooks: { build: { secret: secret-of-the-hook } }
`);
    expect(new Set(secrets)).toEqual(
      new Set([
        ...["in-the-url", "Bearer in-the-header", "in-the-header", "other-header"],
        ...["token-of-the-gateway", "secret-of-the-hook"],
      ]),
    );
  });

  it("counts every variable of a skill as a secret", () => {
    const { config, secrets, problems } = loadConfig({
      file: "signalbox.yaml",
      env: {},
      sources: { file: () => "in-a-file", command: () => "" },
      text: `
skills: { entries: { mail: { env: { MAIL_LOGIN: anna-1984, MAIL_BOX: { file: box } } } } }
mcp: { servers: { here: { command: here, env: { MODE: quick-mode } } } }
`,
    });
    expect(problems).toEqual([]);
    expect(config.skills.entries["mail"]?.env).toEqual({ MAIL_LOGIN: "anna-1984", MAIL_BOX: "in-a-file" });
    expect(new Set(secrets)).toEqual(new Set(["anna-1984", "in-a-file"]));
  });

  it("uses the default of a missing variable", () => {
    expect(load("gateway: { host: '${HOST:-127.0.0.2}' }").config.gateway.host).toBe("127.0.0.2");
  });

  it("leaves out an invalid hook, and one whose secret is missing", () => {
    const loaded = load(
      "agents: { list: [{ id: coder }] }\nhooks:\n  good: { agent: coder, text: 'Done: {{name}}', secret: a-secret-of-the-caller }\n  nobody: { agent: codre }\n  short: { secret: abc }\n  unset: { secret: '${NO_SECRET}' }\n  bare: {}\n",
    );
    expect(loaded.problems.map(({ path, line }) => [path, line])).toEqual([
      ["hooks.nobody.agent", 4],
      ["hooks.short.secret", 5],
      ["hooks.unset.secret", 6],
    ]);
    expect(Object.keys(loaded.config.hooks)).toEqual(["good", "bare"]);
    expect(loaded.secrets).toContain("a-secret-of-the-caller");
  });

  it.each([
    'store: { url: "postgresql+asyncpg://bot:hunter22@db/sb" }',
    'store: { url: "postgres://bot:hunter22 x@db/sb" }',
    'store: { url: "hunter22" }',
    'store: "postgres://bot:hunter22@db/sb"',
    'models: { providers: { a: { api: openai-chat, baseUrl: "bot:hunter22@models.example" } } }',
    'links: { mode: "https://bot:hunter22@a.example" }',
    'memory: { recallTokens: "https://bot:hunter22@a.example" }',
  ])("does not repeat the password of an address in a message: %s", (text) => {
    const message = (() => {
      try {
        return load(text).problems.map(formatProblem).join("\n");
      } catch (error) {
        return String(error);
      }
    })();
    expect(message).toMatch(/store|baseUrl|links\.mode|recallTokens/);
    expect(message).not.toContain("hunter22");
  });

  it("does not repeat a secret in a message", () => {
    const env = { TOKEN: "hunter22" };
    const texts = [
      "gateway: { port: '${TOKEN}' }",
      "memory: { recallTokens: 'x${TOKEN}' }",
      "access: { dm: '${TOKEN}' }",
      "links: { mode: 'x', max: 5 }\nmodels: { providers: { a: { api: openai-chat, baseUrl: '${TOKEN}' } } }",
      "models: { providers: { a: { api: openai-chat, apiKey: { key: hunter22 } } } }",
      "models: { providers: { a: { api: openai-chat, headers: 'x-api: hunter22' } } }",
      "mcp: { servers: { a: { command: npx, args: '--token hunter22' } } }",
      "mcp: { servers: { a: { command: npx, env: 'TOKEN=hunter22' } } }",
    ];
    const messages = texts.map((text) => {
      try {
        return load(text, env).problems.map(formatProblem).join("\n");
      } catch (error) {
        return String(error);
      }
    });
    for (const message of messages) {
      expect(message).not.toBe("");
      expect(message).not.toContain("hunter22");
    }
  });
});
