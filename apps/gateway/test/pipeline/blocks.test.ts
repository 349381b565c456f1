import type { ScriptedTurn } from "@signalbox/testkit";
import { expect, it } from "vitest";
import { ends, eventually, exampleConfig, openWorld } from "../support/harness.ts";
import { plainChannel, plainMessage, said } from "../support/plain-channel.ts";

const PARAGRAPHS = [
  "It looks around first, since nobody told it what is there.",
  "Then it writes all of this down, so that it can be read.",
  "In the end it says what it has found, and goes home again.",
];
const LONG = PARAGRAPHS.join("\n\n");
const BLOCKS = { when: "without-edits", minChars: 20, maxChars: 80 };

/** So many events of the model's stream hold one paragraph or two, and some words of the next. */
const INTO_THE_SECOND = 18;
const INTO_THE_THIRD = 26;

/** A gateway with a channel whose messages cannot be changed, and a model that writes a long answer. */
async function open(blocks: object = BLOCKS, options: { hooks?: boolean; turn?: ScriptedTurn } = {}) {
  const world = await openWorld();
  world.configure(exampleConfig({ channels: { plain: { accounts: { main: {} } } }, replies: { blocks } }));
  world.script([{ text: LONG, chunks: 30, ...options.turn }]);
  const plain = plainChannel();
  const hook = { point: "before_reply", name: "reads", run: () => undefined } as const;
  const started = await world.start({
    channels: [plain.definition],
    hooks: options.hooks === true ? [hook] : [],
  });
  await plain.emit(plainMessage("m1", "what does it do?"));
  return { world, plain, started };
}

it("sends a long answer block by block, and no block twice", async () => {
  const [second, third] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const until = new Map([
    [INTO_THE_SECOND, second.promise],
    [INTO_THE_THIRD, third.promise],
  ]);
  const { world, plain, started } = await open(BLOCKS, { turn: { pace: (event) => until.get(event) } });
  await eventually(() => plain.sent.length === 1, "the first block is out");
  second.resolve();
  await eventually(() => plain.sent.length === 2, "the second one, too");
  expect((await started.gateway.service.status()).inboxPending).toBe(1);
  third.resolve();
  await started.settled();
  expect(said(plain)).toEqual(PARAGRAPHS);
  expect(plain.sent.map(({ message }) => message.replyTo)).toEqual(["m1", undefined, undefined]);
  expect(new Set(plain.sent.map(({ key }) => key)).size).toBe(3);
  expect(await ends(world)).toEqual([["replied", undefined]]);
});

it("keeps the blocks of a stopped answer and sends a notice", async () => {
  const { plain, started } = await open(BLOCKS, {
    turn: { fault: { kind: "stall", afterEvents: INTO_THE_SECOND } },
  });
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
  const { plain, started } = await open(blocks, options);
  await eventually(() => plain.sent.length > 0, "the answer is out");
  await started.settled();
  expect(said(plain)).toEqual([LONG]);
});
