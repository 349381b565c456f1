import { isRetryable } from "../contract/errors.ts";
import { type Bench, never } from "./bench.ts";
import { type Check, method, required, requires } from "./check.ts";
import { expectChannelError, expectEqual, expectThat } from "./expect.ts";
import type { Delivery } from "./harness.ts";
import { message, sentTexts } from "./steps.ts";

const group = "changes";

const hello: Delivery = { eventId: "event-1", messageId: "message-1", text: "hello", from: "person" };

async function sendOne<Address>({ channel, platform }: Bench<Address>, text: string): Promise<string> {
  const options = { idempotencyKey: "conf-1", signal: never };
  const { parts } = await channel.send(platform.to, message(text), options);
  return required(parts[0]?.messageId, "receipt");
}

/** Checks of changes to existing messages. */
export const changeChecks: readonly Check[] = [
  {
    group,
    name: "edits its own message in place",
    applies: requires("edit", "no edits"),
    async run({ open }) {
      await using bench = await open();
      const edit = method(bench.channel, "edit");
      const messageId = await sendOne(bench, "one");
      await edit(bench.platform.to, messageId, message("two"), never);
      expectEqual(
        bench.platform.sent(),
        [{ messageId, text: "two" }],
        "An edit must change the message and create no other",
      );
      await expectChannelError(
        edit(bench.platform.to, messageId, message("three", "four"), never),
        "An edit with two parts",
        "invalid",
      );
      expectEqual(sentTexts(bench), ["two"], "A rejected edit must not change the message");
    },
  },
  {
    group,
    name: "removes a message, and cannot edit it afterwards",
    applies: requires("remove", "no removals"),
    async run({ open }) {
      await using bench = await open();
      const remove = method(bench.channel, "remove");
      const messageId = await sendOne(bench, "one");
      await remove(bench.platform.to, messageId, never);
      expectEqual(sentTexts(bench), [], "A removed message must no longer be on the platform");
      if (bench.channel.edit === undefined) return;
      const error = await expectChannelError(
        bench.channel.edit(bench.platform.to, messageId, message("two"), never),
        "Editing a removed message",
      );
      expectThat(
        !isRetryable(error),
        `Editing a removed message failed with "${error.code}", so it would be retried; use "not_found"`,
      );
    },
  },
  {
    group,
    name: "adds and removes reactions",
    applies: requires("reactions", "no reactions"),
    async run({ open, definition }) {
      await using bench = await open();
      const { channel, platform, events } = bench;
      const react = method(channel, "react");
      const reactions = method(platform, "reactions");
      await platform.deliver(channel, hello);
      const [event] = events;
      expectThat(event?.type === "message", "A direct message must cause a message event");
      const to = definition.codec.decode(event.address);
      for (const call of ["first", "second"]) {
        await react(to, event.messageId, { emoji: "👍", on: true }, never);
        expectThat(
          reactions(event.messageId).length > 0,
          `The message must have a reaction after the ${call} call of react with on: true`,
        );
      }
      for (const call of ["first", "second"]) {
        await react(to, event.messageId, { emoji: "👍", on: false }, never);
        expectEqual(
          reactions(event.messageId),
          [],
          `The message must have no reaction after the ${call} call of react with on: false`,
        );
      }
    },
  },
  {
    group,
    name: "shows the typing indicator without sending a message",
    applies: requires("typing", "no typing indicator"),
    async run({ open }) {
      await using bench = await open();
      const typing = method(bench.channel, "typing");
      for (const on of [true, true, false, false]) await typing(bench.platform.to, { on }, never);
      expectEqual(bench.platform.sent(), [], "The typing indicator must not be a message");
    },
  },
];
