import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { exampleConfig, openWorld } from "../support/harness.ts";

const PROGRAM = fileURLToPath(new URL("../../dist/signalbox.js", import.meta.url));

it("chat at a terminal folds tool calls, and asks there about one that needs a word", async ({ skip }) => {
  if (spawnSync("script", ["--version"]).status !== 0)
    return skip("script(1), which makes a terminal, is missing");
  const world = await openWorld();
  world.configure(
    exampleConfig({
      agents: {
        defaults: { model: "anthropic/claude-sonnet-4-6" },
        list: [{ id: "coder", tools: { allow: ["exec"] } }],
      },
      tools: { exec: { sandbox: "none", ask: "always" } },
    }),
  );
  const call = { id: "toolu_1", name: "exec", input: { command: "echo herons > ran" } };
  world.script([{ toolCalls: [call] }, { text: "It is done." }]);
  const started = await world.startChild();
  const line = [process.execPath, PROGRAM, "chat", "--home", world.home.dir].join(" ");
  const chat = spawn("script", ["-qec", line, "/dev/null"], { env: { ...world.env } });
  onTestFinished(() => void chat.kill("SIGKILL"));
  let shown = "";
  chat.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
  });
  await expect.poll(() => shown).toContain("coder> ");
  chat.stdin.write("count the herons\r");
  await expect.poll(() => shown).toContain("[y] allow  [a] always  [n] deny");
  expect(shown).toContain("▸ exec");
  expect(existsSync(join(world.home.workspace("coder"), "ran"))).toBe(false);
  chat.stdin.write("y\r");
  await expect.poll(() => shown).toContain("It is done.");
  expect(shown).toMatch(/✓ exec, \d+\.\d s/);
  expect(readFileSync(join(world.home.workspace("coder"), "ran"), "utf8")).toBe("herons\n");
  await started.end("SIGTERM");
});

it("send shows what would steer a terminal, and sends it to none", async () => {
  const world = await openWorld();
  world.configure(exampleConfig({ channels: {} }));
  world.script([{ text: "before\u001b]52;c;ZXZpbA==\u0007after\u202e\n\tdone" }]);
  await world.start();
  const { code, out } = await world.command(["send", "hello"]);
  expect([code, out]).toEqual([0, "before\\u{1b}]52;c;ZXZpbA==\\u{7}after\\u{202e}\n\tdone\n"]);
});

it("send - sends the text on standard input", async () => {
  const world = await openWorld();
  world.configure(exampleConfig({ channels: {} }));
  world.script([{ text: "done" }]);
  await world.start();
  const child = world.run(["send", "-"], {}, undefined, "from a file\n");
  expect(await child.exited).toMatchObject({ code: 0 });
  expect(child.stdout()).toBe("done\n");
  expect(JSON.stringify(world.anthropic.requests[0])).toContain("from a file");
});
