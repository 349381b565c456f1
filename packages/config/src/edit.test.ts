import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ConfigError, editConfig, parseConfigPath, removeEmptySections } from "./index.ts";

const file = "signalbox.yaml";
const text = `# What we run
gateway:
  port: 4747 # the usual one
models:
  providers:
    anthropic: { apiKey: "\${ANTHROPIC_API_KEY}" }
agents:
  list:
    - id: main
      # the cheap one
      model: anthropic/claude-haiku-4-5
`;

describe("editConfig", () => {
  it("throws if there is no value to remove", () => {
    for (const path of [
      ["nothing", "here"],
      ["gateway", "host"],
    ])
      expect(() => editConfig(file, text, [{ path, value: undefined }])).toThrow("is not set");
  });

  it("leaves only comments after the last value is removed", () => {
    const without = (text: string) => editConfig(file, text, [{ path: ["gateway"], value: undefined }]);
    expect(without("gateway: { port: 1 }\n")).toBe("");
    expect(without("gateway:\n  port: 1\n# The end.\n")).toBe("# The end.\n");
  });

  it("writes the entries of an empty collection in block style", () => {
    const port = [{ path: ["gateway", "port"], value: 1 }];
    expect(editConfig(file, "{}\n", port)).toBe("gateway:\n  port: 1\n");
    expect(editConfig(file, "gateway: {}\n", port)).toBe("gateway:\n  port: 1\n");
  });

  it("throws for a name in a list and for a position in a mapping", () => {
    const edit = (place: string) => () =>
      editConfig(file, text, [{ path: parseConfigPath(file, place), value: "x" }]);
    expect(edit("agents.list.main")).toThrow('agents.list: is a list and has no key "main"');
    expect(edit("models.providers[0]")).toThrow("models.providers: is not a list");
  });

  it("changes only the given values", () => {
    const edited = editConfig(file, text, [
      { path: ["gateway", "port"], value: 4800 },
      { path: ["agents", "list", 0, "model"], value: "anthropic/claude-sonnet-4-6" },
      { path: ["channels", "telegram", "accounts", "main"], value: { botToken: "${file:secrets/bot}" } },
    ]);
    expect(edited).toContain("# What we run");
    expect(edited).toContain("port: 4800 # the usual one");
    expect(edited).toContain("# the cheap one");
    expect(edited).toContain('apiKey: "${ANTHROPIC_API_KEY}"');
    expect(parse(edited)).toMatchObject({
      agents: { list: [{ id: "main", model: "anthropic/claude-sonnet-4-6" }] },
      channels: { telegram: { accounts: { main: { botToken: "${file:secrets/bot}" } } } },
    });
  });

  it("removes a value, and writes into an empty file", () => {
    expect(parse(editConfig(file, text, [{ path: ["gateway"], value: undefined }]))).not.toHaveProperty(
      "gateway",
    );
    expect(editConfig(file, "", [{ path: ["gateway", "port"], value: 1 }])).toBe("gateway:\n  port: 1\n");
    expect(editConfig("signalbox.json", "{}", [{ path: ["gateway", "port"], value: 1 }])).toBe(
      '{\n  "gateway": {\n    "port": 1\n  }\n}\n',
    );
  });

  it("writes into empty sections", () => {
    const edited = editConfig(file, "agents: # ours\nmodels:\n  providers:\ngateway: {}\n", [
      { path: ["agents", "list", 0, "id"], value: "main" },
      { path: ["models", "providers", "own", "api"], value: "openai-chat" },
      { path: ["gateway", "port"], value: 1 },
    ]);
    expect(edited).toContain("# ours");
    expect(parse(edited)).toEqual({
      agents: { list: [{ id: "main" }] },
      models: { providers: { own: { api: "openai-chat" } } },
      gateway: { port: 1 },
    });
    expect(() => editConfig(file, "agents:\n", [{ path: ["agents", "list"], value: undefined }])).toThrow(
      "not set",
    );
  });

  it("moves the comment of an empty section above its new entries", () => {
    const set = (before: string, place: string, value: unknown) =>
      editConfig(file, before, [{ path: parseConfigPath(file, place), value }]);
    expect(set("models: # what answers\naccess:\n  dm: open\n", "models.providers.own.api", "x")).toBe(
      "models:\n  # what answers\n  providers:\n    own:\n      api: x\naccess:\n  dm: open\n",
    );
    expect(set("access:\n  owners: # us\n", "access.owners[0]", "a:1")).toBe(
      "access:\n  owners:\n    # us\n    - a:1\n",
    );
    expect(set("access:\n  owners: [] # us\n  dm: open\n", "access.owners", ["a:1"])).toBe(
      "access:\n  owners:\n    # us\n    - a:1\n  dm: open\n",
    );
  });

  it("removes sections that become empty, unless that changes the meaning", () => {
    const unset = (before: string, ...path: (string | number)[]) =>
      removeEmptySections(
        { file, text: editConfig(file, before, [{ path, value: undefined }]), env: {} },
        path,
      );
    const port = "gateway:\n  port: 4801\n";
    expect(unset(`agents:\n  defaults:\n    model: demo/demo\n${port}`, "agents", "defaults", "model")).toBe(
      port,
    );
    const two = "agents:\n  defaults:\n    model: demo/demo\n    thinking: low\n";
    expect(parse(unset(two, "agents", "defaults", "model"))).toEqual({
      agents: { defaults: { thinking: "low" } },
    });
    const nothing = "agents:\n  defaults:\n    tools: [exec]\n";
    expect(parse(unset(nothing, "agents", "defaults", "tools", 0))).toEqual({
      agents: { defaults: { tools: [] } },
    });
    const heartbeat = "agents:\n  defaults:\n    heartbeat: { every: 1h }\n";
    expect(parse(unset(heartbeat, "agents", "defaults", "heartbeat", "every"))).toEqual({
      agents: { defaults: { heartbeat: {} } },
    });
    const account = "channels:\n  telegram:\n    accounts:\n      main: { botToken: abc }\n";
    expect(parse(unset(account, "channels", "telegram", "accounts", "main", "botToken"))).toEqual({
      channels: { telegram: { accounts: { main: {} } } },
    });
  });

  it("throws for JSON5 and for paths through plain values", () => {
    const under = [{ path: ["gateway", "port", "number"], value: 1 }];
    expect(() => editConfig(file, text, under)).toThrow(/gateway\.port: is a single value/);
    expect(() => editConfig("signalbox.json5", "{}", under)).toThrow(ConfigError);
    expect(() => editConfig(file, "a: [", under)).toThrow(ConfigError);
    for (const path of ["", "..", "a.", "a[x]", "[0]", "a..b"])
      expect(() => parseConfigPath(file, path)).toThrow(/is not a path/);
  });

  it("writes any value at any path, and reads it back", () => {
    const step = fc.stringMatching(/^[a-z][a-zA-Z0-9_-]{0,8}$/);
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1, maxLength: 4 }),
        fc.jsonValue({ maxDepth: 2 }),
        (path, value) => {
          const edited = editConfig(file, "# kept\nother: 1\n", [{ path: ["part", ...path], value }]);
          const found = path.reduce((at: unknown, key) => Object(at)[key], parse(edited).part);
          expect(JSON.stringify(found)).toBe(JSON.stringify(value));
          expect(edited).toContain("# kept");
          expect(parseConfigPath(file, path.join("."))).toEqual(path);
        },
      ),
    );
  });
});
