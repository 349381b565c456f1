import { expect, it } from "vitest";
import { ends, eventually, exampleConfig, openWorld } from "./harness.ts";
import { plainChannel, plainMessage, said } from "./plain-channel.ts";

const PARAGRAPHS = [
  "It looks around first, since nobody told it what is there.",
  "Then it writes all of this down, so that it can be read.",
  "In the end it says what it has found, and goes home again.",
];
const LONG = PARAGRAPHS.join("\n\n");
const BLOCKS = { when: "without-edits", minChars: 20, maxChars: 80 };

/** A gateway with a channel whose messages cannot be changed, and a model that writes a long answer slowly. */
async function open(blocks: object = BLOCKS, options: { hooks?: boolean; deltaMs?: number } = {}) {
  const world = await openWorld();
  world.configure(exampleConfig({ channels: { plain: { accounts: { main: {} } } }, replies: { blocks } }));
  world.script([{ text: LONG, chunks: 30, deltaMs: options.deltaMs ?? 30 }]);
  const plain = plainChannel();
  const hook = { point: "before_reply", name: "reads", run: () => undefined } as const;
  const started = await world.start({
    channels: [plain.definition],
    hooks: options.hooks === true ? [hook] : [],
  });
  await plain.emit(plainMessage("m1", "what does it do?"));
  return { world, plain, started };
}

it("says a long answer block by block while it is written, and nothing of it twice", async () => {
  const { world, plain, started } = await open();
  await eventually(() => plain.sent.length > 0, "the first block is out");
  expect((await started.gateway.service.status()).inboxPending).toBe(1);
  await started.settled();
  expect(said(plain)).toEqual(PARAGRAPHS);
  expect(plain.sent.map(({ message }) => message.replyTo)).toEqual(["m1", undefined, undefined]);
  expect(new Set(plain.sent.map(({ key }) => key)).size).toBe(3);
  expect(await ends(world)).toEqual([["replied", undefined]]);
});

it("keeps what was said of an answer that is stopped, and says that it was", async () => {
  const { plain, started } = await open(BLOCKS, { deltaMs: 300 });
  await eventually(() => plain.sent.length > 0, "the first block is out");
  await plain.emit(plainMessage("m2", "/stop"));
  await started.settled();
  expect(said(plain)).toEqual(expect.arrayContaining([PARAGRAPHS[0], "(stopped)"]));
  expect(said(plain)).not.toContain(PARAGRAPHS[2]);
});

it.each([
  ["nobody asked for it", {}, {}],
  ["a hook may still change the reply", BLOCKS, { hooks: true }],
])("says an answer as a whole where %s", async (_, blocks, options) => {
  const { plain, started } = await open(blocks, { ...options, deltaMs: 1 });
  await eventually(() => plain.sent.length > 0, "the answer is out");
  await started.settled();
  expect(said(plain)).toEqual([LONG]);
});
