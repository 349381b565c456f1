import { strict as assert } from "node:assert";
import type { PollPart, SendOptions } from "../contract/messages.ts";
import { never } from "./bench.ts";
import { type Check, method, needed, only } from "./check.ts";
import { failing } from "./failing.ts";

const group = "polls";
const options: SendOptions = { idempotencyKey: "conf-1", signal: never };
const small: PollPart = { type: "poll", question: "Where to?", options: ["Lisbon 里斯本", "Rome"] };

const withPolls = only("polls", "no polls");

/** Polls that people vote in at the platform. */
export const pollChecks: readonly Check[] = [
  {
    group,
    name: "refuses a poll, as its capabilities say",
    applies: ({ capabilities }) => (capabilities.polls === undefined ? undefined : "takes some"),
    async run({ open }) {
      await using bench = await open();
      const send = bench.channel.send(bench.platform.to, { parts: [small] }, options);
      assert.equal((await failing(send, "a poll, where there are none,")).code, "unsupported");
      assert.deepEqual(bench.platform.sent(), []);
    },
  },
  {
    group,
    name: "sends a poll as it was asked for, with a receipt",
    applies: withPolls,
    async run({ open }) {
      await using bench = await open();
      const polls = method(bench.platform, "polls");
      const parts = [small, { ...small, question: "Which of them?", multiple: true }];
      const receipt = await bench.channel.send(bench.platform.to, { parts }, options);
      assert.deepEqual(
        polls(),
        parts.map(({ question, options: choices, multiple = false }, index) => ({
          messageId: receipt.parts[index]?.messageId,
          question,
          options: choices,
          multiple,
        })),
      );
    },
  },
  {
    group,
    name: "ends a poll, and tells how people have voted",
    applies: withPolls,
    async run({ open }) {
      await using bench = await open();
      const { platform, channel } = bench;
      const vote = method(platform, "vote");
      const closePoll = method(channel, "closePoll");
      const { parts } = await channel.send(platform.to, { parts: [small] }, options);
      const messageId = needed(parts[0]?.messageId, "a receipt");
      vote(messageId, [0, 3]);
      assert.deepEqual(await closePoll(platform.to, messageId, never), {
        options: small.options.map((text, index) => ({ text, votes: [0, 3][index] })),
      });
    },
  },
  {
    group,
    name: "takes a poll as large as it claims, and refuses a larger one",
    applies: withPolls,
    async run({ open, definition }) {
      const most = needed(definition.capabilities.polls, "polls");
      await using bench = await open();
      const polls = method(bench.platform, "polls");
      const choices = Array.from({ length: most.options }, (_, index) =>
        `${index} `.padEnd(most.optionLength, "o"),
      );
      const largest: PollPart = {
        type: "poll",
        question: "q".repeat(most.questionLength),
        options: choices,
      };
      const send = (part: PollPart) => bench.channel.send(bench.platform.to, { parts: [part] }, options);
      await send(largest);
      assert.deepEqual(polls()[0]?.options, choices);
      const larger: readonly PollPart[] = [
        { ...largest, question: `${largest.question}q` },
        { ...largest, options: [...choices, "one more"] },
        { ...largest, options: [`${choices[0]}o`, ...choices.slice(1)] },
      ];
      for (const part of larger) {
        const { code } = await failing(send(part), "a poll that is larger than what is claimed");
        assert.ok(code === "too_large" || code === "invalid", code);
      }
      assert.equal(polls().length, 1);
    },
  },
];
