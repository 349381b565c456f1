import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { openWorld, type World } from "../support/harness.ts";

/** What a command prints; it must succeed. */
async function output(world: World, ...args: string[]): Promise<string> {
  const { code, out, err } = await world.command(args);
  expect([code, err]).toEqual([0, ""]);
  return out;
}

/** A home that was never used, without any key. */
async function fresh(): Promise<World> {
  const world = await openWorld();
  world.configure("gateway: { port: 0 }\n");
  return world;
}

describe("a fresh home without a key", () => {
  it("is talked to line by line, each frame of the conversation a line of JSON", async () => {
    const world = await fresh();
    const child = await world.startChild();
    expect(child.stderr()).toMatch(
      /No model key is set, so the offline demo model answers\. .*`signalbox init`/,
    );
    const lines = "list files\n\nread missing.txt\n";
    const chat = world.run(["chat", "--json"], {}, undefined, lines);
    expect(await chat.exited).toMatchObject({ code: 0 });
    expect(chat.stderr()).toBe("");
    const frames: { type: string; conversation?: string; outcome?: string }[] = chat
      .stdout()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const ends = frames.filter(({ type }) => type === "run.end");
    expect(ends.map(({ outcome }) => outcome)).toEqual(["replied", "replied"]);
    // Each line waits for the answer to the one before it.
    const order = frames.map(({ type }) => type).filter((type) => type === "run.start" || type === "run.end");
    expect(order).toEqual(["run.start", "run.end", "run.start", "run.end"]);
    expect(frames.map(({ type }) => type)).toContain("tool.end");
    expect(new Set(frames.map(({ conversation }) => conversation))).toEqual(new Set(["cli"]));
  });

  it("does real work with real tools, and says that it is a demo", async () => {
    const world = await fresh();
    const { url } = await world.start();
    const token = readFileSync(world.home.tokenFile, "utf8").trim();
    const client = new OpenAI({ apiKey: token, baseURL: `${url}/v1`, maxRetries: 0 });
    const model = (await client.models.list()).data[0]?.id ?? "";
    expect(model).toBe("signalbox/main");
    const say = async (content: string): Promise<string> => {
      const { choices, usage } = await client.chat.completions.create({
        model,
        user: "tester",
        messages: [{ role: "user", content }],
      });
      expect(usage?.total_tokens).toBeGreaterThan(0);
      const text = choices[0]?.message.content ?? "";
      expect(text).toMatch(
        /^\[offline demo, not a real language model\]|^【离线演示模型，不是真正的语言模型】/,
      );
      return text;
    };
    const workspace = world.home.workspace("main");

    expect(await say("list files")).toContain("The directory holds:");
    expect(await say("write docs/notes.txt with tea at four")).toContain("Wrote docs/notes.txt");
    expect(readFileSync(join(workspace, "docs", "notes.txt"), "utf8").trim()).toBe("tea at four");
    expect(await say("read docs/notes.txt")).toContain("tea at four");
    expect(await say("list files")).toContain("docs/");
    expect(await say("read ../../token")).toContain("did not succeed");
    expect(await say("read missing.txt")).toContain("did not succeed");

    // The bundled skill: read, look around, write.
    const answer = await say("帮我写一个 Python 脚本，功能是遍历当前目录所有文件");
    expect(answer).toContain("list_files.py");
    const script = join(workspace, "list_files.py");
    expect(readFileSync(script, "utf8")).toMatch(/^#!\/usr\/bin\/env python3/);
    if (existsSync("/usr/bin/python3"))
      expect(execFileSync("/usr/bin/python3", [script], { cwd: workspace, encoding: "utf8" })).toContain(
        "docs/notes.txt",
      );
    else console.log("The script is not run: there is no Python at /usr/bin/python3.");

    await say("remember that the cake is at five");
    expect(await say("what do you remember?")).toContain("the cake is at five");
    expect(readFileSync(join(workspace, "memory", "MEMORY.md"), "utf8")).toContain("the cake is at five");

    const sessions: unknown = JSON.parse(await output(world, "sessions", "--json"));
    expect(sessions).toMatchObject([{ key: "agent:main:api:direct:user%3Atester", agentId: "main" }]);
  });

  it("answers on the command line", async () => {
    const world = await fresh();
    const { url } = await world.start();
    expect(await output(world, "send", "write", "a.txt", "with", "one")).toContain("Wrote a.txt");
    expect(await output(world, "send", "read a.txt")).toContain("one");
    const sent: unknown = JSON.parse(await output(world, "send", "--json", "list files"));
    expect(sent).toMatchObject({
      agent: "main",
      outcome: "replied",
      reply: [expect.stringContaining("a.txt")],
    });
    const status = await output(world, "status");
    expect(status).toContain(url);
    expect(status).toContain("agent   main: offline demo model");
    const nobody = await world.command(["send", "--agent", "nobody", "hello"]);
    expect(nobody.code).toBe(64);
    expect(nobody.err).toContain("There is no agent nobody. Available agents: main.");
    expect(await output(world, "skills", "list")).toContain("create-python-script");
  });
});

it("does not answer in the place of a model that is named", async () => {
  const world = await openWorld();
  world.configure({ gateway: { port: 0 }, agents: { defaults: { model: "anthropic/claude-sonnet-4-6" } } });
  const child = await world.startChild();
  expect(child.stderr()).toContain("the provider anthropic has no key");
  expect(child.stderr()).not.toContain("demo");
  const { code, err } = await world.command(["send", "write a.txt with one"]);
  expect(code).toBe(1);
  expect(err).toContain("The agent main has no usable model.");
  expect(existsSync(join(world.home.workspace("main"), "a.txt"))).toBe(false);
  expect(await output(world, "status")).toContain("agent   main: anthropic/claude-sonnet-4-6");
});
