import { never } from "./bench.ts";
import { type Check, method, required, requires, requiresPlatform } from "./check.ts";
import { expectChannelError, expectEqual } from "./expect.ts";
import { message } from "./steps.ts";

/** Checks of people and history. */
export const peopleChecks: readonly Check[] = [
  {
    group: "people",
    name: "opens a direct conversation only with an existing person",
    applies: requires("openDirect", "opens no direct conversations"),
    async run({ open, definition }) {
      await using bench = await open();
      const { channel, platform } = bench;
      const openDirect = method(channel, "openDirect");
      const { id } = required(platform.person, "person");
      const to = await openDirect(id, never);
      expectEqual(
        definition.codec.decode(definition.codec.encode(to)),
        to,
        "The address from openDirect must round-trip through the codec",
      );
      const sent = message("for you alone");
      await channel.send(to, sent, { idempotencyKey: "conf-1", signal: never });
      expectEqual(
        platform.sent().at(-1)?.text,
        "for you alone",
        "A message to the address from openDirect must arrive",
      );
      // Some platforms report that a person does not exist only when a message is sent.
      const toNobody = openDirect("../nobody", never).then((address) =>
        channel.send(address, sent, { idempotencyKey: "conf-2", signal: never }),
      );
      await expectChannelError(
        toNobody,
        "Opening a direct conversation with a missing person and sending there",
      );
      expectEqual(platform.sent().length, 1, "A message to a missing person must not be sent");
    },
  },
  {
    group: "people",
    name: "resolves names and never throws",
    applies: requires("resolve", "resolves no names"),
    async run({ open }) {
      await using bench = await open();
      const { channel, platform } = bench;
      const resolve = method(channel, "resolve");
      const { id, name } = required(platform.person, "person");
      expectEqual(
        await resolve(id, never),
        { name: required(name, "name of the person") },
        "resolve must return the name of a person",
      );
      expectEqual(
        await resolve("../nobody", never),
        undefined,
        "resolve must return undefined for a missing person",
      );
      platform.setAway?.(true);
      expectEqual(
        await resolve("nobody-else", never),
        undefined,
        "resolve must return undefined during an outage",
      );
    },
  },
  {
    group: "history",
    name: "reads the history, newest last and up to the limit",
    applies: (definition) =>
      requiresPlatform(definition) ?? requires("history", "reads no history")(definition),
    async run({ open }) {
      await using bench = await open();
      const { channel, platform } = bench;
      const history = method(channel, "history");
      const receipt = await channel.send(platform.to, message("one", "two", "three"), {
        idempotencyKey: "conf-1",
        signal: never,
      });
      const read = await history(platform.to, { limit: 2, signal: never });
      expectEqual(
        read.map(({ text }) => text),
        ["two", "three"],
        "history with a limit of 2 must return the two latest messages, newest last",
      );
      expectEqual(
        read.map(({ messageId }) => messageId),
        receipt.parts.slice(1).map(({ messageId }) => messageId),
        "history must return the message ids of the receipts",
      );
      for (const { sender } of read)
        expectEqual(
          { isSelf: sender.isSelf, isBot: sender.isBot },
          { isSelf: true, isBot: true },
          "history must mark the bot's own messages",
        );
      const times = read.map(({ timestamp }) => timestamp);
      expectEqual(
        times,
        times.toSorted((a, b) => a - b),
        "history must be sorted by time",
      );
      expectEqual(
        await history(platform.to, { limit: 5, before: 1_500_000_000_000, signal: never }),
        [],
        "history before 2017 must be empty, because nothing was written then",
      );
    },
  },
];
