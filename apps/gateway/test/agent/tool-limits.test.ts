import { expect, it } from "vitest";
import { ask, OWNED } from "../support/feishu-talk.ts";
import { exampleConfig, openWorld } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";

const allowing = (...allow: string[]) =>
  exampleConfig({
    access: OWNED,
    agents: {
      defaults: { model: "anthropic/claude-sonnet-4-6" },
      list: [{ id: "coder", tools: { allow } }],
    },
  });

it.each([
  ["web_*", ["web_fetch"]],
  ["group:read", ["read", "ls", "find", "grep"]],
  ["profile:minimal", ["read", "ls"]],
  ["group:web", ["web_fetch"]],
])("an agent that may use %s has %j", async (listed, tools) => {
  const world = await openWorld();
  world.configure(allowing(listed));
  world.script([{ text: "Yes." }]);
  await ask(await world.start(), "Anything there?");
  expect(modelRequests(world.anthropic)[0]?.tools).toEqual(tools);
});

it("a file is read up to the free space of the model's window", async () => {
  const world = await openWorld();
  world.configure(allowing("read"));
  const text = "A line of what is in the file.\n".repeat(1_500);
  world.files({ "long.txt": text });
  world.script([{ toolCalls: [{ name: "read", input: { file_path: "long.txt" } }] }, { text: "Read." }]);
  await ask(await world.start(), "What is in long.txt?");
  expect(JSON.stringify(modelRequests(world.anthropic)[1]?.messages)).toContain(
    JSON.stringify(text).slice(1, -1),
  );
});
