import {
  type Channel,
  ChannelError,
  type MediaPart,
  type OutboundPart,
  type SendOptions,
} from "@signalbox/channel";
import { feishu } from "@signalbox/channel-feishu";
import { expect, it, vi } from "vitest";
import type { Agent } from "../agents.ts";
import { createLogger } from "../log.ts";
import { createMediaOut, nameOf, sendSayingWhatFails } from "./media-out.ts";

const media = (name: string): MediaPart => ({
  type: "media",
  kind: "file",
  name,
  mimeType: "text/plain",
  size: 1,
  ref: { blob: "0".repeat(64) },
});
const text = (words: string) => ({ type: "text", text: words }) as const;

/** A platform that takes everything but what `refuse` names. */
function platform(refuse: (part: OutboundPart) => ChannelError | undefined) {
  const sent: string[] = [];
  const channel: Channel = {
    start: async () => {},
    stop: async () => {},
    health: () => ({ state: "ready" }),
    self: () => undefined,
    async send(_to, { parts }, { startAt = 0, onPart }) {
      const out = [];
      for (const [index, part] of parts.entries()) {
        if (index < startAt) continue;
        const error = refuse(part);
        if (error)
          throw new ChannelError(
            error.code,
            error.message,
            out.length === 0 ? {} : { receipt: { parts: out } },
          );
        sent.push(part.type === "media" ? `<${part.name}>` : part.text);
        const receipt = { index, messageId: `m${index}` };
        out.push(receipt);
        await onPart?.(receipt);
      }
      return { parts: out };
    },
  };
  return { channel, sent };
}

const how: SendOptions = { idempotencyKey: "k", signal: new AbortController().signal };

it("says which attachment the platform refused, and sends the rest once", async () => {
  const { channel, sent } = platform((part) =>
    part.type === "media" && part.name.startsWith("bad") ? new ChannelError("too_large", "no") : undefined,
  );
  const parts = [text("hi"), media("bad1"), media("good"), media("bad2")];
  const told: number[] = [];
  const refused: string[] = [];
  const receipt = await sendSayingWhatFails(
    channel,
    "to",
    { parts },
    { ...how, onPart: (part) => void told.push(part.index) },
    {
      logger: { error: (fields: { name?: unknown }) => void refused.push(String(fields.name)) },
      giveUp: () => undefined,
    },
  );
  const line = (name: string) => `[file: ${name} was not sent: the platform did not take it]`;
  expect(sent).toEqual(["hi", line("bad1"), "<good>", line("bad2")]);
  expect(told).toEqual([0, 1, 2, 3]);
  expect(receipt.parts.map((part) => part.index)).toEqual([0, 1, 2, 3]);
  expect(refused).toEqual(["bad1", "bad2"]);
});

it("puts a line in the place of an attachment that is given up, where that can be sent", async () => {
  const parts = [text("hi"), media("never"), text("bye")];
  const fresh = new AbortController().signal;
  const asked: number[] = [];
  const fallback = (givenUp: boolean) => ({
    logger: { error: () => {} },
    giveUp: (part: number) => {
      asked.push(part);
      return givenUp ? fresh : undefined;
    },
  });
  const failing = platform((part) =>
    part.type === "media" ? new ChannelError("transient", "x") : undefined,
  );
  const signals: AbortSignal[] = [];
  const channel: Channel = {
    ...failing.channel,
    send(to, message, options) {
      signals.push(options.signal);
      return failing.channel.send(to, message, options);
    },
  };
  await expect(sendSayingWhatFails(channel, "to", { parts }, how, fallback(false))).rejects.toThrow("x");
  const rest = { ...how, startAt: 1 };
  const receipt = await sendSayingWhatFails(channel, "to", { parts }, rest, fallback(true));
  expect(failing.sent).toEqual(["hi", "[file: never was not sent: it could not be uploaded]", "bye"]);
  expect(receipt.parts.map(({ index }) => index)).toEqual([1, 2]);
  expect(asked).toEqual([1, 1]);
  expect(signals.map((signal) => signal === fresh)).toEqual([false, false, true]);
  // While nothing goes out the attachment is tried again.
  const down = platform(() => new ChannelError("transient", "down"));
  await expect(sendSayingWhatFails(down.channel, "to", { parts }, rest, fallback(true))).rejects.toThrow(
    "down",
  );
  expect(down.sent).toEqual([]);
});

it("leaves a text that is refused, and a failure that passes, to the outbox", async () => {
  const parts = [media("one"), text("hi")];
  const send = (refuse: (part: OutboundPart) => ChannelError | undefined) => {
    const { channel } = platform(refuse);
    return sendSayingWhatFails(channel, "to", { parts }, how, {
      logger: { error: () => {} },
      giveUp: () => undefined,
    });
  };
  const inText = new ChannelError("invalid", "text");
  await expect(send((part) => (part.type === "text" ? inText : undefined))).rejects.toThrow("text");
  await expect(send(() => new ChannelError("transient", "later"))).rejects.toThrow("later");
  // The conversation is gone: so is the line.
  await expect(send(() => new ChannelError("not_found", "gone"))).rejects.toThrow("gone");
});

it("names an attachment by one line without a path", () => {
  const cases = {
    "out/报告 1.pdf": "报告 1.pdf",
    "C:\\temp\\a.txt": "a.txt",
    "https://example.com/a/b.png?token=1#x": "b.png",
    "https://example.com": "file",
    "a\u202Egpj.exe": "agpj.exe",
    "a\nb": "ab",
    "..": "file",
    "": "file",
  };
  for (const [source, name] of Object.entries(cases)) expect(nameOf(source)).toBe(name);
  expect(nameOf(`${"a".repeat(300)}.pdf`)).toHaveLength(91);
});

it("gives all that one message has fetched one time together", async () => {
  const unused = () => Promise.reject(new Error("not needed here"));
  const asked: string[] = [];
  const media = createMediaOut({
    blobs: { put: unused, open: unused, olderThan: unused, remove: unused },
    workspaces: unused,
    fetch: (url, { signal } = {}) => {
      asked.push(url);
      return new Promise((_, reject) => {
        if (signal?.aborted) reject(signal.reason);
        signal?.addEventListener("abort", () => reject(signal.reason));
      });
    },
    logger: createLogger("silent", (line) => line),
  });
  const agent: Agent = {
    id: "coder",
    name: "coder",
    model: undefined,
    fallbacks: [],
    thinking: "off",
    systemPrompt: undefined,
    maxOutputTokens: undefined,
    workspaceDir: "/",
    tools: { allow: [], deny: [] },
    skills: { allow: undefined, deny: [] },
    limits: {},
  };
  const sources = ["https://a.example/1", "https://a.example/2", "https://a.example/3"];
  const never = new AbortController().signal;
  vi.useFakeTimers();
  try {
    const wanted = { sources, voice: false };
    const ready = media.prepare(wanted, agent, feishu.capabilities, () => ({ ok: true }), never);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await ready).toEqual({ parts: [], lines: sources });
    expect(asked).toEqual(sources);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
