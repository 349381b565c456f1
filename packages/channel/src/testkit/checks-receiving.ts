import type { ChannelDefinition } from "../contract/definition.ts";
import type { EmitResult } from "../contract/events.ts";
import type { Json } from "../contract/json.ts";
import { account, expectContains, turns } from "./bench.ts";
import { type Check, method, required, requiresAcknowledgements, requiresPlatform } from "./check.ts";
import { checkEvent } from "./check-event.ts";
import { expectEqual, expectOneOf, expectThat } from "./expect.ts";
import type { Delivery, Forgery, Platform } from "./harness.ts";

const hello: Delivery = {
  eventId: "event-1",
  messageId: "message-1",
  text: "hello\nthere 😀",
  from: "person",
};

const FORGERIES: Readonly<Record<Forgery, string>> = {
  missing: "without a signature",
  wrong: "with a wrong signature",
  tampered: "whose body was changed after signing",
  stale: "that was signed long ago",
  ahead: "that was signed by a clock far ahead",
};

function requiresWebhooks(definition: ChannelDefinition): string | undefined {
  return definition.capabilities.transports.includes("webhook") ? undefined : "no webhooks";
}

function getMessageId<Address>(platform: Platform<Address>, delivery: Delivery): string {
  return platform.messageId?.(delivery) ?? delivery.messageId;
}

/** Checks of inbound events. */
export const receivingChecks: readonly Check[] = [
  {
    group: "receiving",
    name: "emits a direct message as the contract requires",
    async run({ open, definition: { id, codec } }) {
      await using bench = await open();
      expectThat(
        await bench.platform.deliver(bench.channel, hello),
        "The channel must acknowledge a direct message",
      );
      expectEqual(
        bench.events.map(({ type }) => type),
        ["message"],
        "A direct message must cause exactly one message event",
      );
      const [event] = bench.events;
      if (event?.type !== "message") return;
      expectEqual(checkEvent(event, { channel: id, account }), [], "The event violates the contract");
      expectEqual(event.text, hello.text, "The event has the wrong text");
      expectEqual(
        event.messageId,
        getMessageId(bench.platform, hello),
        "The event must have the platform's message id",
      );
      expectEqual(event.addressed, "dm", "A direct message must be addressed as dm");
      expectEqual(event.sender.isSelf, false, "The message of a person must not be marked isSelf");
      expectEqual(
        codec.encode(codec.decode(event.address)),
        event.address,
        "The event's address must round-trip through the codec",
      );
    },
  },
  {
    group: "receiving",
    name: "uses the same event id for a redelivery and acknowledges it",
    async run({ open }) {
      await using bench = await open();
      const ids: string[] = [];
      bench.onEmit = async (event) => {
        ids.push(event.eventId);
        return ids.length === 1 ? "accepted" : "duplicate";
      };
      for (const which of ["first", "second", "third"])
        expectThat(
          await bench.platform.deliver(bench.channel, hello),
          `The channel must acknowledge the ${which} delivery of a message`,
        );
      expectEqual(new Set(ids).size, 1, "All deliveries of a message must have the same event id");
    },
  },
  {
    group: "receiving",
    name: "uses different event ids for different deliveries",
    async run({ open }) {
      await using bench = await open();
      const numbers = [5, 3, 4, 1, 2];
      const deliveries = numbers.map((n) => ({ ...hello, eventId: `event-${n}`, messageId: `message-${n}` }));
      await Promise.all(deliveries.map((one) => bench.platform.deliver(bench.channel, one)));
      expectEqual(
        new Set(bench.events.map((event) => event.eventId)).size,
        numbers.length,
        "Five messages, delivered concurrently, must have five different event ids",
      );
    },
  },
  {
    group: "receiving",
    name: "acknowledges a message only after it was accepted",
    async run({ open }) {
      await using bench = await open();
      const { promise, resolve } = Promise.withResolvers<EmitResult>();
      const emitted = Promise.withResolvers<void>();
      bench.onEmit = () => {
        emitted.resolve();
        return promise;
      };
      let isAcknowledged = false;
      const delivery = bench.platform.deliver(bench.channel, hello).then((result) => {
        isAcknowledged = true;
        return result;
      });
      await emitted.promise;
      await turns();
      expectThat(!isAcknowledged, "The channel must not acknowledge a message before emit has returned");
      resolve("accepted");
      expectThat(await delivery, "The channel must acknowledge a message after emit returned accepted");
    },
  },
  {
    group: "receiving",
    name: "does not acknowledge rejected or failed events",
    applies: requiresAcknowledgements,
    async run({ open }) {
      await using bench = await open();
      bench.onEmit = async () => "rejected";
      expectThat(
        !(await bench.platform.deliver(bench.channel, hello)),
        "The channel must not acknowledge a message that emit rejected",
      );
      bench.onEmit = async () => {
        throw new Error("the disk is full");
      };
      expectThat(
        !(await bench.platform.deliver(bench.channel, hello)),
        "The channel must not acknowledge a message if emit throws",
      );
      bench.onEmit = undefined;
      expectThat(
        await bench.platform.deliver(bench.channel, hello),
        "The channel must acknowledge the redelivery of a message that was rejected before",
      );
      expectEqual(bench.events.length, 1, "The redelivery must cause exactly one event");
    },
  },
  {
    group: "receiving",
    name: "accepts nothing after it was stopped",
    async run({ open }) {
      await using bench = await open();
      await bench.channel.stop({ drainMs: 0 });
      const isAcknowledged = await bench.platform.deliver(bench.channel, hello).catch(() => false);
      expectThat(!isAcknowledged, "The channel must not acknowledge a message after stop");
      expectEqual(bench.events, [], "The channel must not emit events after stop");
    },
  },
  {
    group: "receiving",
    name: "marks its own messages and those of other bots",
    applies: ({ capabilities }) =>
      capabilities.transports.includes("internal") ? "the host knows the sender" : undefined,
    async run({ open, harness: { hasBots = true } }) {
      await using bench = await open();
      const by = (from: Delivery["from"]): Delivery => ({
        ...hello,
        eventId: `by-${from}`,
        messageId: `by-${from}`,
        from,
      });
      const messagesBy = (from: Delivery["from"]) => {
        const messageId = getMessageId(bench.platform, by(from));
        return bench.events.filter((event) => event.type === "message" && event.messageId === messageId);
      };
      const senders = hasBots ? (["self", "bot"] as const) : (["self"] as const);
      for (const from of senders) await bench.platform.deliver(bench.channel, by(from));
      const others = messagesBy("bot");
      expectEqual(
        others.length,
        hasBots ? 1 : 0,
        "The channel must emit messages of other bots, because the host decides about them",
      );
      for (const { sender } of others)
        expectEqual(
          { isBot: sender.isBot, isSelf: sender.isSelf },
          { isBot: true, isSelf: false },
          "The sender is wrong in the message of another bot",
        );
      for (const { sender } of messagesBy("self"))
        expectEqual(
          { isBot: sender.isBot, isSelf: sender.isSelf },
          { isBot: true, isSelf: true },
          "The sender is wrong in the bot's own message",
        );
    },
  },
  {
    group: "signatures",
    name: "rejects forged requests",
    applies: requiresWebhooks,
    async run({ open }) {
      await using bench = await open();
      const forge = method(bench.platform, "forge");
      for (const how of ["missing", "wrong", "tampered", "stale", "ahead"] as const) {
        const status = await forge(bench.channel, how);
        if (status === undefined && how !== "missing" && how !== "wrong") continue;
        expectOneOf(
          status,
          [400, 401, 403],
          `The channel must reject a request ${FORGERIES[how]}, but its HTTP status is wrong`,
        );
      }
      expectEqual(bench.events, [], "The channel must not emit events of forged requests");
    },
  },
  {
    group: "signatures",
    name: "answers the platform's challenge",
    applies: requiresWebhooks,
    async run({ open }) {
      await using bench = await open();
      expectThat(
        await method(bench.platform, "challenge")(bench.channel),
        "The channel did not answer the platform's challenge correctly",
      );
    },
  },
  {
    group: "normalization",
    name: "reads recorded payloads, also with unknown fields",
    applies: requiresPlatform,
    async run({ open, harness, definition }) {
      for (const { name, payload, events } of required(harness.recorded, "recorded payloads")) {
        for (const [given, which] of [
          [payload, ""],
          [withUnknownFields(payload), " with unknown fields"],
        ] as const) {
          const what = `The recorded payload "${name}"${which}`;
          await using bench = await open();
          const deliver = method(bench.platform, "deliverRecorded");
          expectThat(await deliver(bench.channel, given), `${what} must be acknowledged`);
          for (const event of bench.events)
            expectEqual(
              checkEvent(event, { channel: definition.id, account }),
              [],
              `${what} caused an event that violates the contract`,
            );
          expectEqual(bench.events.length, events.length, `${what} caused the wrong number of events`);
          for (const [index, expected] of events.entries())
            expectContains(bench.events[index], expected, `${what}: event ${index}`);
        }
      }
    },
  },
];

/** Adds an unknown field to every object of a payload. */
function withUnknownFields(value: Json): Json {
  if (Array.isArray(value)) return value.map((one: Json) => withUnknownFields(one));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]): [string, Json] => [
    key,
    withUnknownFields(inner ?? null),
  ]);
  return Object.fromEntries([...entries, ["x_unknown_field", { nested: [1, "two", null] }]]);
}
