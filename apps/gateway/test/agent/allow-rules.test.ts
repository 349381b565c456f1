import type { ScriptedTurn } from "@signalbox/testkit";
import { expect, it } from "vitest";
import { eventually, exampleConfig, openWorld } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { plainChannel, plainMessage } from "../support/plain-channel.ts";

it("a command that an owner has always allowed runs without approval, also after a restart, and no other does", async () => {
  const world = await openWorld();
  world.configure(
    exampleConfig({
      agents: {
        defaults: { model: "anthropic/claude-sonnet-4-6" },
        list: [{ id: "coder", tools: { allow: ["exec"], ask: { exec: "unlisted" } } }],
      },
      tools: { exec: { sandbox: "none", rules: ["echo **"] } },
      channels: { plain: { accounts: { main: {} } } },
      access: { owners: ["plain:anna"] },
    }),
  );
  const exec = (id: string, command: string): ScriptedTurn => ({
    toolCalls: [{ id, name: "exec", input: { command } }],
  });
  const turns = [
    ...[exec("one", "echo listed"), { text: "done" }],
    ...[exec("two", "printf allowed"), { text: "done" }],
    ...[exec("three", "printf allowed"), { text: "done" }],
    ...[exec("four", "printf allowed > file"), { text: "done" }],
  ];
  world.script(() => turns.shift() ?? { text: "nothing" });
  const plain = plainChannel();
  let started = await world.start({ channels: [plain.definition] });
  const texts = () => plain.sent.map(({ message }) => JSON.stringify(message.parts));
  const questions = () => texts().flatMap((text) => /Approval (\w{8}):/.exec(text)?.[1] ?? []);
  const results = () => JSON.stringify(modelRequests(world.anthropic).at(-1)?.body.messages.at(-1));
  await plain.emit(plainMessage("m1", "say it"));
  await started.settled();
  expect([questions().length, results()]).toEqual([0, expect.stringContaining("listed")]);

  await plain.emit(plainMessage("m2", "and now"));
  await eventually(() => questions().length === 1, "it is asked");
  expect(texts().at(-1)).toContain(`/approve ${questions()[0]} allow-always`);
  await plain.emit(plainMessage("m3", `/approve ${questions()[0]} allow-always`));
  await started.settled();
  expect(results()).toContain("allowed");
  await started.stop();

  started = await world.start({ channels: [plain.definition] });
  await plain.emit(plainMessage("m4", "again"));
  await started.settled();
  expect([questions().length, results()]).toEqual([1, expect.stringContaining("allowed")]);
  await plain.emit(plainMessage("m5", "into a file"));
  await eventually(() => questions().length === 2, "it is asked");
  await plain.emit(plainMessage("m6", `/approve ${questions()[1]} deny`));
  await started.settled();
});
