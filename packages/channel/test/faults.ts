import { setTimeout as delay } from "node:timers/promises";
import { ChannelError, type OutboundPart } from "../src/index.ts";
import { another, errors, events, type Fault, given, running } from "./planting.ts";

function withOneVote(part: OutboundPart): OutboundPart {
  return part.type === "poll" ? { ...part, multiple: false } : part;
}

function withFewOptions(part: OutboundPart): OutboundPart {
  return part.type === "poll" ? { ...part, options: part.options.slice(0, 3) } : part;
}

/** What can be wrong with what a channel hears and says, and with its coming and going. */
export const faults: readonly Fault[] = [
  {
    fault: "has capabilities that are no data",
    check: "definition: states version, id and capabilities as plain data",
    plant: (sound) => ({ ...sound, id: "Echo!" }),
  },
  {
    fault: "loads its SDK with its definition",
    check: "definition: loads no SDK",
    plant: (sound) => sound,
    entry: new URL("./echo.ts", import.meta.url),
  },
  {
    fault: "claims reactions, and has no way to react",
    check: "definition: has a method for each capability, and none without",
    plant: (sound) => ({
      ...sound,
      create: async (context) => {
        const { react: _missing, ...channel } = await sound.create(context);
        return channel;
      },
    }),
  },
  {
    fault: "claims polls, and has no way to end one",
    check: "definition: has a method for each capability, and none without",
    plant: (sound) => ({
      ...sound,
      create: async (context) => {
        const { closePoll: _missing, ...channel } = await sound.create(context);
        return channel;
      },
    }),
  },
  {
    fault: "writes addresses without its prefix",
    check: "addresses: reads back what it wrote",
    plant: (sound) => ({ ...sound, codec: { ...sound.codec, encode: ({ id }) => id } }),
  },
  {
    fault: "reads any address",
    check: "addresses: refuses what it did not write",
    plant: (sound) => ({ ...sound, codec: { ...sound.codec, decode: (text) => ({ id: text.slice(5) }) } }),
  },
  {
    fault: "takes a direct message for a group's",
    check: "intake: hands a direct message over as the contract says",
    plant: events(() => ({ addressed: "none" })),
  },
  {
    fault: "makes up event ids",
    check: "intake: gives a repeated delivery the same event id and acknowledges it",
    plant: events(() => ({ eventId: another() })),
  },
  {
    fault: "has one event id for all",
    check: "intake: gives different deliveries different event ids, in any order",
    plant: events(() => ({ eventId: "event" })),
  },
  {
    fault: "acknowledges early",
    check: "intake: acknowledges only after the message is accepted",
    plant: given(({ emit }) => ({
      emit: async (event) => {
        emit(event).catch(() => {});
        return "accepted";
      },
    })),
  },
  {
    fault: "acknowledges what was rejected",
    check: "intake: does not acknowledge what was rejected or failed",
    plant: given(({ emit }) => ({ emit: async (event) => (await emit(event)) && "accepted" })),
  },
  {
    fault: "listens after its stop",
    check: "intake: takes nothing after it was stopped",
    plant: running(() => ({ stop: async () => {} })),
  },
  {
    fault: "takes bots for people",
    check: "intake: tells its own messages and other bots' from people's",
    plant: events(({ sender }) => ({ sender: { ...sender, isBot: false } })),
  },
  {
    fault: "keeps messages of bots to itself",
    check: "intake: tells its own messages and other bots' from people's",
    plant: given(({ emit }) => ({
      emit: async (event) => (event.sender.isBot ? "accepted" : emit(event)),
    })),
  },
  {
    fault: "does not look at signatures",
    check: "signatures: refuses forged requests before any work",
    plant: running(({ webhook }) => ({
      webhook: async (request) => {
        const answer = await webhook?.(request);
        return answer === undefined || answer.status === 401 ? Response.json({}) : answer;
      },
    })),
  },
  {
    fault: "takes what a clock far ahead has signed",
    check: "signatures: refuses forged requests before any work",
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
    fault: "loses the text of what was recorded",
    check: "normalisation: reads recorded payloads, with unknown fields too",
    plant: events(() => ({ text: "" })),
  },
  {
    fault: "tells its parts when all are out",
    check: "sending: sends every part once, in order, with a receipt",
    plant: running(({ send }) => ({
      send: async (to, message, { onPart, ...options }) => {
        const receipt = await send(to, message, options);
        for (const part of receipt.parts) await onPart?.(part);
        return receipt;
      },
    })),
  },
  {
    fault: "begins again at the first part",
    check: "sending: goes on at the part it is told",
    plant: running(({ send }) => ({
      send: (to, message, options) => send(to, message, { ...options, startAt: 0 }),
    })),
  },
  {
    fault: "cuts what is too long",
    check: "text: takes max − 1 and max, and refuses max + 1, in its unit",
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
    fault: "sends the first of many parts",
    check: "text: takes what the gateway cuts: emoji, Chinese and code blocks",
    plant: running(({ send }) => ({
      send: (to, { parts }, options) => send(to, { parts: parts.slice(0, 1) }, options),
    })),
  },
  {
    fault: "forgets when to try again",
    check: "failures: says that it is too fast, and until when",
    plant: errors(({ code, message, scope }) => new ChannelError(code, message, { scope })),
  },
  {
    fault: "sends again under another key",
    check: "failures: tells a failure from an open outcome, and repeats without a second message",
    plant: running(({ send }) => ({
      send: (to, message, options) => send(to, message, { ...options, idempotencyKey: another() }),
    })),
  },
  {
    fault: "has doubts about what was never tried",
    check: "failures: gives up before it is tried where its signal has fired",
    plant: errors((error) =>
      error.code === "transient" ? new ChannelError("unknown_outcome", error.message) : error,
    ),
  },
  {
    fault: "gives a message up where the platform is away",
    check: "failures: fails while the platform is away, and works again when it is back",
    plant: errors((error) =>
      error.code === "transient" ? new ChannelError("invalid", error.message) : error,
    ),
  },
  {
    fault: "finds every message",
    check: "failures: finds a doubtful message again",
    plant: running(() => ({ reconcile: async () => ({ outcome: "sent", messageId: "m" }) })),
  },
  {
    fault: "tells its password",
    check: "failures: shows no secret in errors and logs",
    plant: (sound) => ({
      ...sound,
      create: async (context) => {
        const channel = await sound.create(context);
        context.logger.info(`signing in with ${context.config.password}`);
        return channel;
      },
    }),
  },
  {
    fault: "forgets that one may vote for several",
    check: "polls: sends a poll as it was asked for, with a receipt",
    plant: running(({ send }) => ({
      send: (to, message, options) => send(to, { parts: message.parts.map(withOneVote) }, options),
    })),
  },
  {
    fault: "tells of options that nobody voted for as of none",
    check: "polls: ends a poll, and tells how people have voted",
    plant: running(({ closePoll }) => ({
      closePoll: async (to, messageId, signal) => {
        const result = await closePoll?.(to, messageId, signal);
        return { options: (result?.options ?? []).filter(({ votes }) => votes > 0) };
      },
    })),
  },
  {
    fault: "leaves out options that are too many",
    check: "polls: takes a poll as large as it claims, and refuses a larger one",
    plant: running(({ send }) => ({
      send: (to, message, options) => send(to, { parts: message.parts.map(withFewOptions) }, options),
    })),
  },
  {
    fault: "is always ready",
    check: "lifecycle: says how it is",
    plant: running(() => ({ health: () => ({ state: "ready" }) })),
  },
  {
    fault: "starts after its stop",
    check: "lifecycle: may be stopped twice, and before it started",
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
    fault: "goes on starting when it is stopped",
    check: "lifecycle: may be stopped while it starts",
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
    fault: "starts whatever its signal says",
    check: "lifecycle: does not start under a signal that has fired",
    plant: running(({ start }) => ({ start: () => start(new AbortController().signal) })),
  },
  {
    fault: "leaves timers",
    check: "lifecycle: starts and stops twenty times without leaving a handle",
    plant: running(({ start }) => ({
      start: (signal) => {
        void delay(3000);
        return start(signal);
      },
    })),
  },
];
