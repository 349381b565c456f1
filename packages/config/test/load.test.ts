import { describe, expect, it } from "vitest";
import { loadConfig } from "../src/index.ts";
import { load } from "./load-text.ts";

describe("loadConfig", () => {
  it("returns the defaults of every section for an empty file", () => {
    const { config, problems } = load("");
    expect(problems).toEqual([]);
    expect(config.gateway).toMatchObject({ host: "127.0.0.1", port: 4747 });
    expect(config.agents.list).toEqual([{ id: "main" }]);
    expect(config.access).toMatchObject({
      dm: "pairing",
      groups: { mode: "allowlist", requireMention: true, historyLimit: 20 },
    });
    expect(config.session.dmScope).toBe("per-channel-peer");
  });

  it("reads a complete example", () => {
    const { config, problems } = load(
      `
agents:
  defaults: { model: anthropic/claude-sonnet-4-6, systemPrompt: "你好" }
  list:
    - id: coder
      name: 代码助手
      workspaceDir: ~/projects/coder
      tools: { allow: [read, write] }
      skills: { allow: [create-python-script] }
channels:
  feishu:
    accounts:
      main: { appId: cli_1, appSecret: "\${FEISHU_SECRET}" }
bindings:
  - { agent: coder, match: { channel: feishu, account: main } }
`,
      { FEISHU_SECRET: "s3cret-value" },
    );
    expect(problems).toEqual([]);
    expect(config.agents.list[0]).toMatchObject({ id: "coder", tools: { allow: ["read", "write"] } });
    expect(config.channels["feishu"]?.accounts["main"]).toEqual({
      appId: "cli_1",
      appSecret: "s3cret-value",
    });
  });

  it("reads the address of the database, whose password is a secret", () => {
    const url = "postgres://signalbox:pass-0123@localhost/signalbox";
    const { config, secrets, problems } = load('store: { url: "${DATABASE}" }', { DATABASE: url });
    expect([config.store.url, problems]).toEqual([url, []]);
    expect(secrets).toContain(url);
    expect(load(`store: { url: "${url}" }`).secrets).toEqual(expect.arrayContaining([url, "pass-0123"]));
  });

  it("reads the address of the database from a file or a program", () => {
    const url = "postgres://signalbox:pass-0123@localhost/signalbox";
    const sources = {
      file: (path: string) => (path === "db.url" ? `${url}\n` : "hunter22"),
      command: (argv: readonly string[]) => (argv[0] === "pass" ? url : ""),
    };
    const read = (text: string) => loadConfig({ file: "signalbox.yaml", text, env: {}, sources });
    for (const reference of ["{ file: db.url }", "{ command: [pass, show, db] }"]) {
      const { config, secrets, problems } = read(`store: { url: ${reference} }`);
      expect([config.store.url, problems]).toEqual([url, []]);
      expect(secrets).toEqual(expect.arrayContaining([url, "pass-0123"]));
    }
    expect(() => read("store: { url: { file: other } }")).toThrow(/store\.url.*must begin with postgres:/);
    expect(() => read("store: { url: { file: other } }")).toThrow(expect.not.stringContaining("hunter22"));
  });

  it.each([
    ["an address of another kind", 'store: { url: "mysql://localhost/a" }', /store\.url/],
    ["a variable that is not set", 'store: { url: "${DATABASE}" }', /DATABASE/],
    ["files in S3 without a database", "store: { blobs: { s3: { bucket: b } } }", /store\.blobs.*store\.url/],
    [
      "half of an S3 key",
      'store: { url: "postgres://localhost/a", blobs: { s3: { bucket: b, accessKeyId: a } } }',
      /store\.blobs\.s3.*needs both accessKeyId and secretAccessKey/,
    ],
    ["a misspelled key", 'store: { uri: "postgres://localhost/a" }', /store\.uri/],
  ])("refuses a store with %s, and keeps the last one on reload", (_, text, message) => {
    expect(() => load(text)).toThrow(message);
    const last = load('store: { url: "postgres://localhost/last" }').config;
    const reloaded = loadConfig({ file: "signalbox.yaml", text, env: {}, last });
    expect(reloaded.config.store.url).toBe("postgres://localhost/last");
    expect(reloaded.problems).toHaveLength(1);
  });

  it("reads JSON and JSON5, and finds the lines of their values", () => {
    const json = loadConfig({ file: "signalbox.json", text: '{"gateway":{"port":1234}}', env: {} });
    expect(json.config.gateway.port).toBe(1234);
    const json5 = loadConfig({ file: "signalbox.json5", text: "{gateway:{port:1235,},} // five", env: {} });
    expect(json5.config.gateway.port).toBe(1235);
    expect(() => loadConfig({ file: "signalbox.json5", text: "{", env: {} })).toThrow(/:1: not valid JSON5/);
    const lines =
      "{\n  // http://x\n\tgateway: { port: 1 },\n  'memory': {\n    recallTokens: 'many',\n  },\n}";
    const wrong = loadConfig({ file: "signalbox.json5", text: lines, env: {} });
    expect(wrong.problems.map(({ path, line }) => [path, line])).toEqual([["memory.recallTokens", 5]]);
    const text = '{\n  "memory": {\n    "recallTokens": "many"\n  }\n}';
    expect(loadConfig({ file: "signalbox.json", text, env: {} }).problems[0]?.line).toBe(3);
  });

  it.each([
    [
      "tools:\n  exec:\n    domains:\n      - *.example.org",
      'signalbox.yaml:4: *.example.org is an alias, but there is no &.example.org before it. If it is meant as text, write it in quotes: "*.example.org".',
    ],
    [
      "agents: &all\n  defaults: *all",
      "signalbox.yaml:2: the alias *all refers to itself. Write the value out instead.",
    ],
    [
      ["a: &a [x, x, x]", ...["b", "c", "d", "e", "f"].map(tenfold)].join("\n"),
      "signalbox.yaml: its aliases (`*name`) expand to too much. Write the values out instead.",
    ],
  ])("reports the alias that cannot be resolved: %j", (text, words) => {
    expect(() => load(text)).toThrow(expect.objectContaining({ name: "ConfigError", message: words }));
  });
});

/** Returns a list of ten aliases of the previous list. */
function tenfold(name: string): string {
  const before = String.fromCharCode(name.charCodeAt(0) - 1);
  return `${name}: &${name} [${Array(10).fill(`*${before}`).join(", ")}]`;
}
