import { setTimeout as delay } from "node:timers/promises";
import { ChannelError, type OutboundPart } from "../src/index.ts";
import { handedOver } from "./echo-handed-over.ts";
import { another, errors, events, type Fault, given, running } from "./planting.ts";

function withOneVote(part: OutboundPart): OutboundPart {
  return part.type === "poll" ? { ...part, multiple: false } : part;
}

function withFewOptions(part: OutboundPart): OutboundPart {
  return part.type === "poll" ? { ...part, options: part.options.slice(0, 3) } : part;
}

/** Splits a text that is over the limit when quotation marks are escaped. */
function inPieces(part: OutboundPart): readonly OutboundPart[] {
  if (!("text" in part) || JSON.stringify(part.text).length < 420) return [part];
  const half = part.text.length / 2;
  return [part.text.slice(0, half), part.text.slice(half)].map((text) => ({ ...part, text }));
}

const REFERENCES =
  "references: passes on what a message refers to, apart from the message's own text and media";

/** Faults in the definition, in receiving and sending, and in the life cycle. */
export const faults: readonly Fault[] = [
  {
    fault: "has an invalid id",
    check: "definition: has a version, an id and capabilities as plain data",
    plant: (echo) => ({ ...echo, id: "Echo!" }),
  },
  ...[
    { fault: "has a setup step with a field that is missing", step: { fields: ["pasword"] } },
    { fault: "has a setup step for a value that no option has", step: { when: { password: "webhook" } } },
    { fault: "has an unknown placeholder in its setup", step: { text: "Enter {url}" } },
  ].map(
    ({ fault, step }): Fault => ({
      fault,
      check: "definition: describes the setup with its own fields and their values",
      plant: (echo) => ({ ...echo, meta: { ...echo.meta, setup: [step] } }),
    }),
  ),
  {
    fault: "loads its SDK with its definition",
    check: "definition: loads no SDK when imported",
    plant: (echo) => echo,
    entry: new URL("./echo.ts", import.meta.url),
  },
  {
    fault: "claims reactions but has no react",
    check: "definition: has exactly the methods that its capabilities claim",
    plant: (echo) => ({
      ...echo,
      create: async (context) => {
        const { react: _missing, ...channel } = await echo.create(context);
        return channel;
      },
    }),
  },
  {
    fault: "claims polls but has no closePoll",
    check: "definition: has exactly the methods that its capabilities claim",
    plant: (echo) => ({
      ...echo,
      create: async (context) => {
        const { closePoll: _missing, ...channel } = await echo.create(context);
        return channel;
      },
    }),
  },
  {
    fault: "encodes addresses without its prefix",
    check: "addresses: round-trips addresses through text",
    plant: (echo) => ({ ...echo, codec: { ...echo.codec, encode: ({ id }) => id } }),
  },
  {
    fault: "decodes any address",
    check: "addresses: rejects invalid addresses",
    plant: (echo) => ({ ...echo, codec: { ...echo.codec, decode: (text) => ({ id: text.slice(5) }) } }),
  },
  {
    fault: "does not address direct messages as dm",
    check: "receiving: emits a direct message as the contract requires",
    plant: events(() => ({ addressed: "none" })),
  },
  {
    fault: "generates event ids",
    check: "receiving: uses the same event id for a redelivery and acknowledges it",
    plant: events(() => ({ eventId: another() })),
  },
  {
    fault: "uses one event id for all messages",
    check: "receiving: uses different event ids for different deliveries",
    plant: events(() => ({ eventId: "event" })),
  },
  {
    fault: "acknowledges before emit returns",
    check: "receiving: acknowledges a message only after it was accepted",
    plant: given(({ emit }) => ({
      emit: async (event) => {
        emit(event).catch(() => {});
        return "accepted";
      },
    })),
  },
  {
    fault: "acknowledges rejected messages",
    check: "receiving: does not acknowledge rejected or failed events",
    plant: given(({ emit }) => ({ emit: async (event) => (await emit(event)) && "accepted" })),
  },
  {
    fault: "emits events after stop",
    check: "receiving: accepts nothing after it was stopped",
    plant: running(() => ({ stop: async () => {} })),
  },
  {
    fault: "marks bots as people",
    check: "receiving: marks its own messages and those of other bots",
    plant: events(({ sender }) => ({ sender: { ...sender, isBot: false } })),
  },
  {
    fault: "drops messages of bots",
    check: "receiving: marks its own messages and those of other bots",
    plant: given(({ emit }) => ({
      emit: async (event) => (event.sender.isBot ? "accepted" : emit(event)),
    })),
  },
  {
    fault: "drops what a message refers to",
    check: REFERENCES,
    plant: events(({ references: _dropped }) => ({ references: [] })),
  },
  {
    fault: "puts the text of another message into the message",
    check: REFERENCES,
    plant: events(({ text, references = [] }) => ({
      text: [text, ...references.map((one) => one.text)].join(" "),
    })),
  },
  {
    fault: "drops the media of a message that another one refers to",
    check: REFERENCES,
    plant: events(({ references }) => ({
      references: references?.map(({ media: _dropped, ...reference }) => reference),
    })),
  },
  {
    fault: "does not name the author of a message that another one refers to",
    check: REFERENCES,
    plant: events(({ references }) => ({
      references: references?.map(({ sender: _dropped, ...reference }) => reference),
    })),
  },
  {
    fault: "forgets messages that were rejected",
    check: "intake: keeps a rejected message and emits it again",
    plant: () => handedOver({ forgetsRejected: true }),
  },
  {
    fault: "reports no gap",
    check: "intake: reports a gap after a crash, and none after an orderly stop",
    plant: () => handedOver({ reportsNoGap: true }),
  },
  {
    fault: "reports a gap after every stop",
    check: "intake: reports a gap after a crash, and none after an orderly stop",
    plant: () => handedOver({ reportsGapAlways: true }),
  },
  {
    fault: "does not verify signatures",
    check: "signatures: rejects forged requests",
    plant: running(({ webhook }) => ({
      webhook: async (request) => {
        const answer = await webhook?.(request);
        return answer === undefined || answer.status === 401 ? Response.json({}) : answer;
      },
    })),
  },
  {
    fault: "accepts signatures of a clock far ahead",
    check: "signatures: rejects forged requests",
    plant: given(({ clock }) => ({ clock: { ...clock, now: () => clock.now() + 3_600_000 } })),
  },
  {
    fault: "does not answer challenges",
    check: "signatures: answers the platform's challenge",
    plant: running(({ webhook }) => ({
      webhook: async (request) => Response.json({}, { status: (await webhook?.(request))?.status ?? 0 }),
    })),
  },
  {
    fault: "drops the text of messages",
    check: "normalization: reads recorded payloads, also with unknown fields",
    plant: events(() => ({ text: "" })),
  },
  {
    fault: "calls onPart only after the last part",
    check: "sending: sends every part once, in order, with receipts",
    plant: running(({ send }) => ({
      send: async (to, message, { onPart, ...options }) => {
        const receipt = await send(to, message, options);
        for (const part of receipt.parts) await onPart?.(part);
        return receipt;
      },
    })),
  },
  {
    fault: "ignores startAt",
    check: "sending: resumes at startAt",
    plant: running(({ send }) => ({
      send: (to, message, options) => send(to, message, { ...options, startAt: 0 }),
    })),
  },
  {
    fault: "truncates long texts",
    check: "text: accepts texts up to its limit and rejects longer ones",
    plant: running(({ send }) => ({
      send: (to, { parts }, options) =>
        send(
          to,
          {
            parts: parts.map((part) => ("text" in part ? { ...part, text: part.text.slice(0, 200) } : part)),
          },
          options,
        ),
    })),
  },
  {
    fault: "sends only the first part",
    check: "text: sends split texts with emoji, Chinese and code blocks",
    plant: running(({ send }) => ({
      send: (to, { parts }, options) => send(to, { parts: parts.slice(0, 1) }, options),
    })),
  },
  {
    fault: "sends a part that grows when rendered in pieces",
    check: "text: sends one message for a part, even if the part grows when it is rendered",
    plant: running(({ send }) => ({
      send: (to, message, options) =>
        send(to, { parts: message.parts.flatMap(inPieces) }, options).then(({ parts }) => ({
          parts: parts.slice(-1),
        })),
    })),
  },
  {
    fault: "ignores the signal while it waits for a response",
    check: "failures: ends a send when its signal fires, even if the platform never responds",
    plant: running(({ send }) => ({
      send: (to, message, options) => send(to, message, { ...options, signal: new AbortController().signal }),
    })),
  },
  {
    fault: "reports a send without a response as transient",
    check: "failures: ends a send when its signal fires, even if the platform never responds",
    plant: errors((error) => new ChannelError("transient", error.message)),
  },
  {
    fault: "drops retryAfterMs",
    check: "failures: reports rate limits with retryAfterMs",
    plant: errors(({ code, message, scope }) => new ChannelError(code, message, { scope })),
  },
  {
    fault: "retries with another idempotency key",
    check: "failures: distinguishes failures from unknown outcomes, and retries without duplicates",
    plant: running(({ send }) => ({
      send: (to, message, options) => send(to, message, { ...options, idempotencyKey: another() }),
    })),
  },
  {
    fault: "reports an unknown outcome although nothing was sent",
    check: "failures: rejects if already aborted",
    plant: errors((error) =>
      error.code === "transient" ? new ChannelError("unknown_outcome", error.message) : error,
    ),
  },
  {
    fault: "reports an outage as invalid",
    check: "failures: fails during an outage and recovers after it",
    plant: errors((error) =>
      error.code === "transient" ? new ChannelError("invalid", error.message) : error,
    ),
  },
  {
    fault: "finds messages that were never sent",
    check: "failures: finds a message with an unknown outcome",
    plant: running(() => ({ reconcile: async () => ({ outcome: "sent", messageId: "m" }) })),
  },
  {
    fault: "logs its password",
    check: "failures: reveals no secrets in errors and logs",
    plant: (echo) => ({
      ...echo,
      create: async (context) => {
        const channel = await echo.create(context);
        context.logger.info(`signing in with ${context.config.password}`);
        return channel;
      },
    }),
  },
  {
    fault: "drops the setting for several votes",
    check: "polls: sends polls with their options and settings",
    plant: running(({ send }) => ({
      send: (to, message, options) => send(to, { parts: message.parts.map(withOneVote) }, options),
    })),
  },
  {
    fault: "omits options without votes",
    check: "polls: closes a poll and reports the votes",
    plant: running(({ closePoll }) => ({
      closePoll: async (to, messageId, signal) => {
        const result = await closePoll?.(to, messageId, signal);
        return { options: (result?.options ?? []).filter(({ votes }) => votes > 0) };
      },
    })),
  },
  {
    fault: "drops poll options over the limit",
    check: "polls: accepts polls up to its limits and rejects larger ones",
    plant: running(({ send }) => ({
      send: (to, message, options) => send(to, { parts: message.parts.map(withFewOptions) }, options),
    })),
  },
  {
    fault: "always reports that it is ready",
    check: "lifecycle: reports its health",
    plant: running(() => ({ health: () => ({ state: "ready" }) })),
  },
  {
    fault: "starts after stop",
    check: "lifecycle: can be stopped twice, and before it starts",
    plant: running(({ start, health }) => {
      let started = false;
      return {
        start: async (signal) => {
          await start(signal);
          started = true;
        },
        health: () => (started ? { state: "ready" } : health()),
      };
    }),
  },
  {
    fault: "continues its start after stop",
    check: "lifecycle: can be stopped while it starts",
    plant: running(({ start, health }) => {
      let isUp = false;
      return {
        start: async (signal) => {
          await delay(1);
          await start(signal);
          isUp = true;
        },
        health: () => (isUp ? { state: "ready" } : health()),
      };
    }),
  },
  {
    fault: "ignores the signal of start",
    check: "lifecycle: does not start if already aborted",
    plant: running(({ start }) => ({ start: () => start(new AbortController().signal) })),
  },
  {
    fault: "leaks timers",
    check: "lifecycle: starts and stops twenty times without leaking handles",
    plant: running(({ start }) => ({
      start: (signal) => {
        void delay(3000);
        return start(signal);
      },
    })),
  },
];
