import type { PollPart, SendOptions } from "../contract/messages.ts";
import { never } from "./bench.ts";
import { type Check, method, required, requires } from "./check.ts";
import { expectChannelError, expectEqual } from "./expect.ts";

const group = "polls";
const options: SendOptions = { idempotencyKey: "conf-1", signal: never };
const small: PollPart = { type: "poll", question: "Where to?", options: ["Lisbon 里斯本", "Rome"] };

const applies = requires("polls", "no polls");

/** Checks of polls. */
export const pollChecks: readonly Check[] = [
  {
    group,
    name: "rejects polls if it claims none",
    applies: ({ capabilities }) => (capabilities.polls === undefined ? undefined : "accepts some"),
    async run({ open }) {
      await using bench = await open();
      await expectChannelError(
        bench.channel.send(bench.platform.to, { parts: [small] }, options),
        "Sending a poll without capabilities.polls",
        "unsupported",
      );
      expectEqual(bench.platform.sent(), [], "A rejected poll must not be sent");
    },
  },
  {
    group,
    name: "sends polls with their options and settings",
    applies,
    async run({ open }) {
      await using bench = await open();
      const polls = method(bench.platform, "polls");
      const parts = [small, { ...small, question: "Which of them?", multiple: true }];
      const receipt = await bench.channel.send(bench.platform.to, { parts }, options);
      expectEqual(
        polls(),
        parts.map(({ question, options: choices, multiple = false }, index) => ({
          messageId: receipt.parts[index]?.messageId,
          question,
          options: choices,
          multiple,
        })),
        "The platform must have each poll as it was sent, with the message id of its receipt",
      );
    },
  },
  {
    group,
    name: "closes a poll and reports the votes",
    applies,
    async run({ open }) {
      await using bench = await open();
      const { platform, channel } = bench;
      const vote = method(platform, "vote");
      const closePoll = method(channel, "closePoll");
      const { parts } = await channel.send(platform.to, { parts: [small] }, options);
      const messageId = required(parts[0]?.messageId, "receipt");
      vote(messageId, [0, 3]);
      expectEqual(
        await closePoll(platform.to, messageId, never),
        { options: small.options.map((text, index) => ({ text, votes: [0, 3][index] })) },
        "closePoll must return the votes of every option, including those without votes",
      );
    },
  },
  {
    group,
    name: "accepts polls up to its limits and rejects larger ones",
    applies,
    async run({ open, definition }) {
      const limits = required(definition.capabilities.polls, "polls");
      await using bench = await open();
      const polls = method(bench.platform, "polls");
      const choices = Array.from({ length: limits.options }, (_, index) =>
        `${index} `.padEnd(limits.optionLength, "o"),
      );
      const largest: PollPart = {
        type: "poll",
        question: "q".repeat(limits.questionLength),
        options: choices,
      };
      const send = (part: PollPart) => bench.channel.send(bench.platform.to, { parts: [part] }, options);
      await send(largest);
      expectEqual(polls()[0]?.options, choices, "A poll of the claimed size must arrive with all options");
      for (const [what, part] of [
        ["a question over questionLength", { ...largest, question: `${largest.question}q` }],
        ["more options than claimed", { ...largest, options: [...choices, "one more"] }],
        ["an option over optionLength", { ...largest, options: [`${choices[0]}o`, ...choices.slice(1)] }],
      ] as const)
        await expectChannelError(send(part), `Sending a poll with ${what}`, "too_large", "invalid");
      expectEqual(polls().length, 1, "A rejected poll must not be sent");
    },
  },
];
