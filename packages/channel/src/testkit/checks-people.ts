import { strict as assert } from "node:assert";
import { never } from "./bench.ts";
import { type Check, method, needed, only, withPlatform } from "./check.ts";
import { failing } from "./failing.ts";
import { words } from "./steps.ts";

/** Who is there, and what was said. */
export const peopleChecks: readonly Check[] = [
  {
    group: "people",
    name: "opens a direct conversation with a person, and with nobody else",
    applies: only("openDirect", "opens no direct conversations"),
    async run({ open, definition }) {
      await using bench = await open();
      const { channel, platform } = bench;
      const openDirect = method(channel, "openDirect");
      const { id } = needed(platform.person, "person");
      const to = await openDirect(id, never);
      assert.deepEqual(definition.codec.decode(definition.codec.encode(to)), to);
      const message = words("for you alone");
      await channel.send(to, message, { idempotencyKey: "conf-1", signal: never });
      assert.equal(platform.sent().at(-1)?.text, "for you alone");
      // A platform may find out only when something is sent there.
      const nobody = openDirect("../nobody", never).then((address) =>
        channel.send(address, message, { idempotencyKey: "conf-2", signal: never }),
      );
      await failing(nobody, "a message to nobody");
      assert.equal(platform.sent().length, 1);
    },
  },
  {
    group: "people",
    name: "says what a person is called, and never fails at it",
    applies: only("resolve", "knows no names"),
    async run({ open }) {
      await using bench = await open();
      const { channel, platform } = bench;
      const resolve = method(channel, "resolve");
      const { id, name } = needed(platform.person, "person");
      assert.deepEqual(await resolve(id, never), { name: needed(name, "name of the person") });
      assert.equal(await resolve("../nobody", never), undefined);
      platform.setAway?.(true);
      assert.equal(await resolve("nobody-else", never), undefined);
    },
  },
  {
    group: "history",
    name: "reads what was said, the newest last and no more than asked for",
    applies: (definition) => withPlatform(definition) ?? only("history", "reads no history")(definition),
    async run({ open }) {
      await using bench = await open();
      const { channel, platform } = bench;
      const history = method(channel, "history");
      const receipt = await channel.send(platform.to, words("one", "two", "three"), {
        idempotencyKey: "conf-1",
        signal: never,
      });
      const read = await history(platform.to, { limit: 2, signal: never });
      assert.deepEqual(
        read.map(({ text }) => text),
        ["two", "three"],
      );
      assert.deepEqual(
        read.map(({ messageId }) => messageId),
        receipt.parts.slice(1).map(({ messageId }) => messageId),
      );
      for (const { sender } of read)
        assert.deepEqual([sender.isSelf, sender.isBot], [true, true], "its own messages");
      assert.deepEqual(
        read.map(({ timestamp }) => timestamp),
        read.map(({ timestamp }) => timestamp).toSorted((a, b) => a - b),
      );
      const earlier = await history(platform.to, { limit: 5, before: 1_500_000_000_000, signal: never });
      assert.deepEqual(earlier, [], "nothing was said in 2017");
    },
  },
];
