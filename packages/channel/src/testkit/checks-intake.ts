import { strict as assert } from "node:assert";
import type { ChannelDefinition } from "../contract/definition.ts";
import type { EmitResult } from "../contract/events.ts";
import type { Json } from "../contract/json.ts";
import { account, assertHolds, turns } from "./bench.ts";
import { type Check, method, needed, withPlatform } from "./check.ts";
import { checkEvent } from "./check-event.ts";
import type { Delivery, Platform } from "./harness.ts";

const hello: Delivery = {
  eventId: "event-1",
  messageId: "message-1",
  text: "hello\nthere 😀",
  from: "person",
};

function webhooksOnly(definition: ChannelDefinition): string | undefined {
  return definition.capabilities.transports.includes("webhook") ? undefined : "no webhooks";
}

function messageIdOf<Address>(platform: Platform<Address>, delivery: Delivery): string {
  return platform.messageId?.(delivery) ?? delivery.messageId;
}

/** What comes in. */
export const intakeChecks: readonly Check[] = [
  {
    group: "intake",
    name: "hands a direct message over as the contract says",
    async run({ open, definition }) {
      await using bench = await open();
      assert.equal(await bench.platform.deliver(bench.channel, hello), true);
      const [event, ...more] = bench.events;
      assert.ok(event?.type === "message", "one message event");
      assert.deepEqual(more, []);
      assert.deepEqual(checkEvent(event, { channel: definition.id, account }), []);
      assert.equal(event.text, hello.text);
      assert.equal(event.messageId, messageIdOf(bench.platform, hello));
      assert.equal(event.addressed, "dm");
      assert.equal(event.sender.isSelf, false);
      assert.equal(definition.codec.encode(definition.codec.decode(event.address)), event.address);
    },
  },
  {
    group: "intake",
    name: "gives a repeated delivery the same event id and acknowledges it",
    async run({ open }) {
      await using bench = await open();
      const ids: string[] = [];
      bench.onEmit = async (event) => {
        ids.push(event.eventId);
        return ids.length === 1 ? "accepted" : "duplicate";
      };
      for (let round = 0; round < 3; round += 1) {
        assert.equal(await bench.platform.deliver(bench.channel, hello), true);
      }
      assert.equal(new Set(ids).size, 1);
    },
  },
  {
    group: "intake",
    name: "gives different deliveries different event ids, in any order",
    async run({ open }) {
      await using bench = await open();
      const numbers = [5, 3, 4, 1, 2];
      const deliveries = numbers.map((n) => ({ ...hello, eventId: `event-${n}`, messageId: `message-${n}` }));
      await Promise.all(deliveries.map((one) => bench.platform.deliver(bench.channel, one)));
      assert.equal(new Set(bench.events.map((event) => event.eventId)).size, numbers.length);
    },
  },
  {
    group: "intake",
    name: "acknowledges only after the message is accepted",
    async run({ open }) {
      await using bench = await open();
      const { promise, resolve } = Promise.withResolvers<EmitResult>();
      const emitted = Promise.withResolvers<void>();
      bench.onEmit = () => {
        emitted.resolve();
        return promise;
      };
      let acknowledged = false;
      const delivery = bench.platform.deliver(bench.channel, hello).then((result) => {
        acknowledged = true;
        return result;
      });
      await emitted.promise;
      await turns();
      assert.equal(acknowledged, false, "it was acknowledged before emit said accepted");
      resolve("accepted");
      assert.equal(await delivery, true);
    },
  },
  {
    group: "intake",
    name: "does not acknowledge what was rejected or failed",
    async run({ open }) {
      await using bench = await open();
      bench.onEmit = async () => "rejected";
      assert.equal(await bench.platform.deliver(bench.channel, hello), false);
      bench.onEmit = async () => {
        throw new Error("the disk is full");
      };
      assert.equal(await bench.platform.deliver(bench.channel, hello), false);
      bench.onEmit = undefined;
      assert.equal(await bench.platform.deliver(bench.channel, hello), true);
      assert.equal(bench.events.length, 1);
    },
  },
  {
    group: "intake",
    name: "takes nothing after it was stopped",
    async run({ open }) {
      await using bench = await open();
      await bench.channel.stop({ drainMs: 0 });
      const taken = await bench.platform.deliver(bench.channel, hello).catch(() => false);
      assert.equal(taken, false);
      assert.deepEqual(bench.events, []);
    },
  },
  {
    group: "intake",
    name: "tells its own messages and other bots' from people's",
    applies: ({ capabilities }) =>
      capabilities.transports.includes("internal") ? "the host knows who sent it" : undefined,
    async run({ open }) {
      await using bench = await open();
      const by = (from: Delivery["from"]): Delivery => ({
        ...hello,
        eventId: `by-${from}`,
        messageId: `by-${from}`,
        from,
      });
      const messagesBy = (from: Delivery["from"]) => {
        const messageId = messageIdOf(bench.platform, by(from));
        return bench.events.filter((event) => event.type === "message" && event.messageId === messageId);
      };
      for (const from of ["self", "bot"] as const) await bench.platform.deliver(bench.channel, by(from));
      const others = messagesBy("bot");
      assert.equal(
        others.length,
        1,
        "the message of another bot has to come through: the host decides about it",
      );
      for (const { sender } of others)
        assert.deepEqual([sender.isBot, sender.isSelf], [true, false], "another bot: isBot, and not isSelf");
      assert.ok(
        messagesBy("self").every((event) => event.sender.isSelf && event.sender.isBot),
        "its own message, where it comes through, is marked isSelf and isBot",
      );
    },
  },
  {
    group: "signatures",
    name: "refuses forged requests before any work",
    applies: webhooksOnly,
    async run({ open }) {
      await using bench = await open();
      const forge = method(bench.platform, "forge");
      for (const how of ["missing", "wrong", "tampered", "stale", "ahead"] as const) {
        const status = await forge(bench.channel, how);
        if (status === undefined && how !== "missing" && how !== "wrong") continue;
        assert.ok(status === 400 || status === 401 || status === 403, `${how}: ${status}`);
      }
      assert.deepEqual(bench.events, []);
    },
  },
  {
    group: "signatures",
    name: "answers the platform's challenge",
    applies: webhooksOnly,
    async run({ open }) {
      await using bench = await open();
      assert.equal(await method(bench.platform, "challenge")(bench.channel), true);
    },
  },
  {
    group: "normalisation",
    name: "reads recorded payloads, with unknown fields too",
    applies: withPlatform,
    async run({ open, harness, definition }) {
      for (const { name, payload, events } of needed(harness.recorded, "recorded payloads")) {
        for (const given of [payload, withUnknown(payload)]) {
          await using bench = await open();
          const deliver = method(bench.platform, "deliverRecorded");
          assert.equal(await deliver(bench.channel, given), true, `${name}: acknowledged`);
          const wrong = bench.events.flatMap((event) =>
            checkEvent(event, { channel: definition.id, account }),
          );
          assert.deepEqual(wrong, [], name);
          assert.equal(bench.events.length, events.length, `${name}: number of events`);
          for (const [index, expected] of events.entries()) assertHolds(bench.events[index], expected, name);
        }
      }
    },
  },
];

/** Adds an unknown field to every object of a payload. */
function withUnknown(value: Json): Json {
  if (Array.isArray(value)) return value.map((one: Json) => withUnknown(one));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]): [string, Json] => [
    key,
    withUnknown(inner ?? null),
  ]);
  return Object.fromEntries([...entries, ["x_unknown_field", { nested: [1, "two", null] }]]);
}
