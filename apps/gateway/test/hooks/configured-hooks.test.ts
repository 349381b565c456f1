import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { ask, OWNED } from "../support/feishu-talk.ts";
import { exampleConfig, openWorld, type World } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { serve } from "../support/site.ts";

const WRITE = { name: "write", input: { file_path: "a.txt", content: "x" } };

async function open(hooks: object): Promise<World> {
  const world = await openWorld();
  world.configure(
    exampleConfig({
      access: OWNED,
      hooks,
      agents: {
        defaults: { model: "anthropic/claude-sonnet-4-6" },
        list: [{ id: "coder", tools: { allow: ["write"] } }],
      },
    }),
  );
  world.script([{ toolCalls: [WRITE] }, { text: "That is how it is." }]);
  return world;
}

function module(world: World, code: string): string {
  const folder = join(world.home.dir, "guard");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), `{ "type": "module", "exports": "./index.js" }`);
  writeFileSync(join(folder, "index.js"), code);
  return "./guard";
}

function linked(folder: string, home: string): string {
  symlinkSync(folder, join(home, "link"));
  return "./link";
}

const file = (world: World, name: string): string => join(world.home.workspace("coder"), name);
const lastTold = (world: World): string =>
  JSON.stringify(modelRequests(world.anthropic).at(-1)?.body.messages.at(-1));

describe("a configured hook", () => {
  it("at a URL may deny a tool call with a reason", async () => {
    await using site = await serve((_request, response) => {
      response.end(JSON.stringify({ action: "deny", reason: "Not on a Sunday." }));
    });
    const world = await open({ guard: { at: "before_tool_call", url: `${site.url}/guard` } });
    const started = await world.start();
    expect(started.problems).toEqual([]);
    await ask(started, "write it");
    expect(lastTold(world)).toContain("Not on a Sunday.");
    expect(existsSync(file(world, "a.txt"))).toBe(false);
  });

  it("in a module may change the arguments, which are validated again", async () => {
    const world = await open({ guard: { at: "before_tool_call", module: "./guard" } });
    module(
      world,
      `export default ({ args }) => ({ action: "allow", change: { args: { ...args, file_path: "../outside.txt" } } });`,
    );
    const outside = await world.start();
    await ask(outside, "write it");
    expect(lastTold(world)).toContain('"is_error":true');
    await outside.stop();

    const inside = await open({ guard: { at: "before_tool_call", module: "./guard" } });
    module(
      inside,
      `export default ({ args }) => ({ action: "allow", change: { args: { ...args, content: "y" } } });`,
    );
    await ask(await inside.start(), "write it");
    expect(readFileSync(file(inside, "a.txt"), "utf8")).toBe("y");
  });

  it.each([
    ["by its path", (folder: string) => folder],
    ["by a link", linked],
    ["by its address", (folder: string) => pathToFileURL(join(folder, "index.js")).href],
  ])(
    "is not loaded from where agents write, named %s: at the gate it lets nothing through",
    async (_, nameOf) => {
      const world = await openWorld();
      const folder = join(world.home.workspace("coder"), "guard");
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "package.json"), `{ "type": "module", "exports": "./index.js" }`);
      writeFileSync(join(folder, "index.js"), `export default () => ({ action: "allow" });`);
      world.configure(
        exampleConfig({
          access: OWNED,
          hooks: { guard: { at: "before_tool_call", module: nameOf(folder, world.home.dir) } },
        }),
      );
      world.script([{ toolCalls: [WRITE] }, { text: "That is how it is." }]);
      const started = await world.start();
      expect(started.problems).toContainEqual(expect.stringContaining("where agents can write"));
      await ask(started, "write it");
      expect(existsSync(file(world, "a.txt"))).toBe(false);
    },
  );

  it.each([
    ["is not there", { at: "before_tool_call", module: "./nowhere" }, "could not be loaded"],
    ["names no point", { at: "before_toolcall", url: "http://127.0.0.1:9/" }, "hooks.guard.at"],
    [
      "has a secret that is not set",
      { at: "before_tool_call", url: "http://127.0.0.1:9/", secret: "${NOT_SET}" },
      "NOT_SET",
    ],
    ["cannot be reached", { at: "before_tool_call", url: "http://127.0.0.1:9/" }, undefined],
  ])("at the gate that %s lets nothing through", async (_, guard, problem) => {
    const world = await open({ guard });
    const started = await world.start();
    expect(started.problems.map((line) => line.includes(problem ?? ""))).toEqual(
      problem === undefined ? [] : [true],
    );
    await ask(started, "write it");
    expect(lastTold(world)).toContain("The check guard failed.");
    expect(existsSync(file(world, "a.txt"))).toBe(false);
  });
});
