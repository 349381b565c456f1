import {
  type Channel,
  ChannelError,
  type MediaPart,
  type OutboundPart,
  type SendOptions,
} from "@signalbox/channel";
import { expect, it } from "vitest";
import { nameOf, sendSayingWhatFails } from "./media-out.ts";

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
    { error: (fields: { name?: unknown }) => void refused.push(String(fields.name)) },
  );
  const line = (name: string) => `[file: ${name} was not sent: the platform did not take it]`;
  expect(sent).toEqual(["hi", line("bad1"), "<good>", line("bad2")]);
  expect(told).toEqual([0, 1, 2, 3]);
  expect(receipt.parts.map((part) => part.index)).toEqual([0, 1, 2, 3]);
  expect(refused).toEqual(["bad1", "bad2"]);
});

it("leaves a text that is refused, and a failure that passes, to the outbox", async () => {
  const parts = [media("one"), text("hi")];
  const send = (refuse: (part: OutboundPart) => ChannelError | undefined) => {
    const { channel } = platform(refuse);
    return sendSayingWhatFails(channel, "to", { parts }, how, { error: () => {} });
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
