import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ask, OWNED, said } from "../support/feishu-talk.ts";
import { exampleConfig, openWorld } from "../support/harness.ts";

const PIXEL = Buffer.from("R0lGODlhAQABAIAAAAUEBAAAACwAAAAAAQABAAACAkQBADs=", "base64");
const AGENTS = {
  defaults: { model: "anthropic/claude-sonnet-4-6" },
  list: [{ id: "coder", tools: { allow: ["image"] } }],
};

async function world(tools: object) {
  const opened = await openWorld();
  opened.configure(exampleConfig({ access: OWNED, agents: AGENTS, tools }));
  opened.files({ "notes.txt": "no picture" });
  writeFileSync(join(opened.home.workspace("coder"), "lamp.gif"), PIXEL);
  return opened;
}

it("the configured model describes an image, and the requester pays for the call", async () => {
  const opened = await world({ image: { model: "anthropic/claude-haiku-4-5" } });
  opened.script([
    { toolCalls: [{ name: "image", input: { file_path: "lamp.gif", question: "Is it lit?" } }] },
    { text: "The lamp is lit.", usage: { input: 50, output: 7 } },
    { text: "It is lit." },
  ]);
  const started = await opened.start();
  expect(started.problems).toEqual([]);
  await ask(started, "Is the lamp lit?");
  expect(said(opened)).toEqual(["It is lit."]);
  const [, look, last] = opened.anthropic.requests.map(({ body }) => JSON.stringify(body));
  expect(look).toContain('"model":"claude-haiku-4-5"');
  expect(look).toContain(PIXEL.toString("base64"));
  expect(look).toContain("Is it lit?");
  expect(look).not.toContain("Is the lamp lit?");
  expect(last).toContain("The lamp is lit.");
});

it("the tool is missing without a model, and a model without image input is reported", async () => {
  const without = await world({});
  without.script([{ text: "No." }]);
  await ask(await without.start(), "Is the lamp lit?");
  expect(JSON.stringify(without.anthropic.requests[0]?.body)).not.toContain('"name":"image"');
  const unknown = await world({ image: { model: "anthropic/claude-nothing" } });
  expect((await unknown.start()).problems).toEqual([expect.stringContaining("claude-nothing")]);
});
