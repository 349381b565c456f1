import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { cruise } from "dependency-cruiser";
import { afterEach, describe, expect, it } from "vitest";
import config from "../.dependency-cruiser.mjs";
import { onlyReExports } from "./index-files.mjs";
import { layerRules } from "./layer-rules.mjs";

const house = mkdtempSync(join(tmpdir(), "signalbox-layers-"));
afterEach(() => rmSync(house, { recursive: true, force: true }));

/** Runs dependency-cruiser on these files. Every package is built, so that its name resolves to its folder. */
async function offences(
  files,
  stages = ["route", "run", "deliver"],
  folders = [["compose"], ["path"], ["hooks", "audit"]],
) {
  const members = new Set();
  for (const [path, text] of Object.entries(files)) {
    write(path, text);
    members.add(path.split("/")[1]);
    for (const [, name] of text.matchAll(/@signalbox\/([a-z-]+)/g)) members.add(name);
  }
  for (const name of members) {
    const folder = ["gateway", "console"].includes(name) ? `apps/${name}` : `packages/${name}`;
    const exported = {
      "./types": "./dist/types/index.js",
      "./*": "./dist/index.js",
      ".": "./dist/index.js",
    };
    write(`${folder}/package.json`, JSON.stringify({ name: `@signalbox/${name}`, exports: exported }));
    write(`${folder}/dist/index.js`, "");
    write(`${folder}/dist/types/index.js`, "");
    mkdirSync(join(house, "node_modules/@signalbox"), { recursive: true });
    symlinkSync(join(house, folder), join(house, "node_modules/@signalbox", name));
  }
  const ruleSet = { forbidden: layerRules({ members: [...members], stages, folders }) };
  const { output } = await cruise(Object.keys(files), {
    ...config.options,
    baseDir: house,
    validate: true,
    ruleSet,
  });
  return output.summary.violations.map(({ rule }) => rule.name);
}

function write(path, text) {
  mkdirSync(dirname(join(house, path)), { recursive: true });
  writeFileSync(join(house, path), text);
}

describe("layers", () => {
  it.each([
    ["from below", "path/x.ts", "compose", "folder-path"],
    ["types from below", "hooks/x.ts", "path", "folder-hooks-audit"],
    ["from beside", "hooks/x.ts", "audit", "folder-hooks-sideways"],
  ])("folders of the gateway: %s", async (_, from, to, rule) => {
    expect(
      await offences({
        [`apps/gateway/src/${from}`]: `import type { A } from "../${to}/a.ts";`,
        [`apps/gateway/src/${to}/a.ts`]: "export interface A {}",
      }),
    ).toEqual([rule]);
  });

  it.each([
    [
      "an upward import",
      "agent-core/src/a.ts",
      'import { x } from "@signalbox/routing";',
      "agent-core-upward",
    ],
    ["types from above", "channel/src/a.ts", 'import type { X } from "@signalbox/tools";', "channel-upward"],
    ["a sideways import", "routing/src/a.ts", 'import { x } from "@signalbox/channel";', "routing-sideways"],
    [
      "one between channels",
      "channel-feishu/src/a.ts",
      'export * from "@signalbox/channel-web";',
      "channel-feishu-sideways",
    ],
    ["an import at run time", "config/src/a.ts", 'await import("@signalbox/gateway");', "config-upward"],
    ["a subpath", "tools/src/a.ts", 'import "@signalbox/llm-providers/demo";', "tools-sideways"],
    [
      "types of a user in the store",
      "store/src/a.ts",
      'import type { X } from "@signalbox/delivery";',
      "store-upward",
    ],
    [
      "SQLite in a library",
      "delivery/src/a.ts",
      'import type { X } from "@signalbox/store";',
      "store-without-sqlite",
    ],
    [
      "fake servers in a program",
      "tools/src/a.ts",
      'import "@signalbox/testkit/feishu";',
      "testkit-for-tests",
    ],
    ["fake servers that need us", "testkit/src/a.ts", 'import "@signalbox/agent-core";', "testkit-alone"],
  ])("refuses %s", async (_name, path, text, rule) => {
    expect(await offences({ [`packages/${path}`]: text })).toEqual([rule]);
  });

  it.each([
    ["imports downward", "tools/src/a.ts", 'import { x } from "@signalbox/agent-core";'],
    ["the store's types", "delivery/src/a.ts", 'import type { X } from "@signalbox/store/types";'],
    ["a store in the home", "home/src/a.ts", 'import { openStore } from "@signalbox/store";'],
    ["the client's frames", "client/src/a.ts", 'import { x } from "@signalbox/protocol";'],
    [
      "what tests import",
      "routing/test/wire.test.ts",
      'import "@signalbox/testkit"; import "@signalbox/gateway";',
    ],
  ])("accepts %s", async (_name, path, text) => {
    expect(await offences({ [`packages/${path}`]: text })).toEqual([]);
  });

  it("refuses a path into another package's folder", async () => {
    const files = {
      "packages/channel/src/a.ts": "export const a = 1;",
      "packages/tools/src/b.ts": 'export * from "../../channel/src/a.ts";',
    };
    expect(await offences(files)).toEqual(["by-name"]);
  });

  it("refuses circles, of types too", async () => {
    const files = {
      "packages/tools/src/a.ts": 'import type { B } from "./b.ts"; export type A = B | 1;',
      "packages/tools/src/b.ts": 'import type { A } from "./a.ts"; export type B = A | 2;',
    };
    expect(await offences(files)).toEqual(["no-circles"]);
  });

  it.each([
    ["accepts a stage that imports an earlier one", "../1-route.ts", []],
    ["refuses one that imports a later one", "../deliver.ts", ["stage-run"]],
  ])("%s", async (_name, target, expected) => {
    const path = "apps/gateway/src/pipeline";
    const files = {
      [`${path}/1-route.ts`]: "export type Value = 1;",
      [`${path}/2-run/turn.ts`]: `import type { Value } from "${target}"; export type Run = Value;`,
      [`${path}/deliver.ts`]: "export type Value = 2;",
    };
    expect(await offences(files)).toEqual(expected);
  });

  it("refuses a package that is in no row", () => {
    expect(() => layerRules({ members: ["surprise"], stages: [] })).toThrow("no row");
  });
});

describe("index files", () => {
  it("accepts re-exports with their comments", () => {
    const source = `/** What this is. */\nexport * from "./a.ts";\nexport { b, type C } from "./b.ts"; // why\nexport type { D } from "./d.ts";\n`;
    expect(onlyReExports(source)).toBe(true);
  });

  it.each(['import { a } from "./a.ts";\nexport { a };', "export const a = 1;", 'import "./a.ts";'])(
    "refuses %s",
    (source) => expect(onlyReExports(source)).toBe(false),
  );
});
