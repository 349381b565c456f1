import { expect, it } from "vitest";
import { loadConfig } from "../src/index.ts";
import { load } from "./load-text.ts";

const many = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join("\n");

it.each([
  ["more than 250,000 characters", `# ${"x".repeat(250_000)}`, "it has 250002 characters"],
  ["20,000 unknown keys", many(20_000, (n) => `k${n}: 1`), "has 20000 entries"],
  ["20,000 times the same key", many(20_000, () => "k: 1"), "has 20000 entries"],
  ["6,000 agents", `agents:\n  list:\n${many(6_000, (n) => `    - id: a${n}`)}`, "has 6000 entries"],
  [
    "300 aliases",
    `a: &a 1\nb:\n${many(300, (n) => `  k${n}: *a`)}`,
    "its aliases (`*name`) expand to too much",
  ],
  [
    "aliases of a large mapping",
    `a: &a\n${many(2_000, (n) => `  k${n}: 1`)}\nb:\n${many(100, (n) => `  k${n}: *a`)}`,
    "its aliases (`*name`) expand to too much",
  ],
  [
    "aliases of aliases",
    `a0: &a0 [x, x, x, x, x, x, x, x, x]\n${many(6, (n) => `a${n + 1}: &a${n + 1} [${`*a${n},`.repeat(9)}]`)}`,
    "its aliases (`*name`) expand to too much",
  ],
])("refuses a file with %s before it is checked", (_, text, message) => {
  expect(() => load(text)).toThrow(message);
});

it("reads a file with 1,000 agents and 1,000 bindings", () => {
  const { config, problems } = load(
    `agents:\n  list:\n${many(1_000, (n) => `    - { id: a${n} }`)}\nbindings:\n${many(
      1_000,
      (n) => `  - { agent: a${n}, match: { channel: feishu, peer: { kind: direct, id: p${n} } } }`,
    )}`,
  );
  expect(problems).toEqual([]);
  expect(config.agents.list).toHaveLength(1_000);
});

it("names each key that is set twice, with its line", () => {
  expect(() => load("gateway: {}\nmodels: {}\ngateway: {}\nmodels: {}")).toThrow(
    /signalbox\.yaml:3: .*set twice.*\n?.*signalbox\.yaml:4: .*set twice/s,
  );
});

it("refuses a long file of JSON5 as well", () => {
  const text = `{ a: "${"x".repeat(250_000)}" }`;
  expect(() => loadConfig({ file: "signalbox.json5", text, env: {} })).toThrow("characters");
});
