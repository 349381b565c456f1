import { strict as assert } from "node:assert";
import { isRetryable } from "../contract/errors.ts";
import type { Outbound } from "../contract/messages.ts";
import { type Bench, never } from "./bench.ts";
import { type Check, method, needed, only } from "./check.ts";
import { failing } from "./failing.ts";
import type { Delivery } from "./harness.ts";
import { texts, words } from "./steps.ts";

const group = "changes";

const hello: Delivery = { eventId: "event-1", messageId: "message-1", text: "hello", from: "person" };

async function sendOne<Address>({ channel, platform }: Bench<Address>, text: string): Promise<string> {
  const options = { idempotencyKey: "conf-1", signal: never };
  const { parts } = await channel.send(platform.to, words(text), options);
  return needed(parts[0]?.messageId, "receipt");
}

/** What is done to messages that are there. */
export const changeChecks: readonly Check[] = [
  {
    group,
    name: "changes a message of its own in its place",
    applies: only("edit", "no edits"),
    async run({ open }) {
      await using bench = await open();
      const edit = method(bench.channel, "edit");
      const messageId = await sendOne(bench, "one");
      await edit(bench.platform.to, messageId, words("two"), never);
      assert.deepEqual(bench.platform.sent(), [{ messageId, text: "two" }]);
      const several: Outbound = { parts: [...words("three").parts, ...words("four").parts] };
      const error = await failing(
        edit(bench.platform.to, messageId, several, never),
        "an edit that would be two messages",
      );
      assert.equal(error.code, "invalid");
      assert.deepEqual(texts(bench), ["two"]);
    },
  },
  {
    group,
    name: "takes a message back, and changes none that is gone",
    applies: only("remove", "no removals"),
    async run({ open }) {
      await using bench = await open();
      const remove = method(bench.channel, "remove");
      const messageId = await sendOne(bench, "one");
      await remove(bench.platform.to, messageId, never);
      assert.deepEqual(texts(bench), []);
      if (bench.channel.edit === undefined) return;
      const late = bench.channel.edit(bench.platform.to, messageId, words("two"), never);
      const error = await failing(late, "a change of a message that was taken back");
      assert.ok(!isRetryable(error), `${error.code}: it would be tried again`);
    },
  },
  {
    group,
    name: "reacts to a message, and takes that back",
    applies: only("reactions", "no reactions"),
    async run({ open, definition }) {
      await using bench = await open();
      const { channel, platform, events } = bench;
      const react = method(channel, "react");
      const reactions = method(platform, "reactions");
      await platform.deliver(channel, hello);
      const [event] = events;
      assert.ok(event?.type === "message", "one message event");
      const to = definition.codec.decode(event.address);
      for (const round of ["at first", "again"]) {
        await react(to, event.messageId, { emoji: "👍", on: true }, never);
        assert.notEqual(reactions(event.messageId).length, 0, `a reaction is there: ${round}`);
      }
      for (const round of ["at first", "again"]) {
        await react(to, event.messageId, { emoji: "👍", on: false }, never);
        assert.equal(reactions(event.messageId).length, 0, `the reaction is gone: ${round}`);
      }
    },
  },
  {
    group,
    name: "shows that it writes without a message",
    applies: only("typing", "no sign of writing"),
    async run({ open }) {
      await using bench = await open();
      const typing = method(bench.channel, "typing");
      for (const on of [true, true, false, false]) await typing(bench.platform.to, { on }, never);
      assert.deepEqual(bench.platform.sent(), []);
    },
  },
];
