import {
  type Channel,
  ChannelError,
  type MediaPart,
  type OutboundPart,
  type SendOptions,
} from "@signalbox/channel";
import { phrasesIn } from "@signalbox/phrases";
import { expect, it } from "vitest";
import { plainAccount, silentLogger } from "../test/plain.ts";
import { sendWithMediaFallback } from "./media-fallback.ts";

const media = (name: string): MediaPart => ({
  type: "media",
  kind: "file",
  name,
  mimeType: "text/plain",
  size: 1,
  ref: { blob: "0".repeat(64) },
});
const text = (words: string) => ({ type: "text", text: words }) as const;

/** A platform that accepts every part unless `reject` returns an error. */
function platform(reject: (part: OutboundPart) => ChannelError | undefined) {
  const sent: string[] = [];
  const channel = plainAccount({
    async send(_to, { parts }, { startAt = 0, onPart }) {
      const out = [];
      for (const [index, part] of parts.entries()) {
        if (index < startAt) continue;
        const error = reject(part);
        if (error)
          throw new ChannelError(
            error.code,
            error.message,
            out.length === 0 ? {} : { receipt: { parts: out } },
          );
        sent.push("text" in part ? part.text : `<${part.type === "media" ? part.name : part.type}>`);
        const receipt = { index, messageId: `m${index}` };
        out.push(receipt);
        await onPart?.(receipt);
      }
      return { parts: out };
    },
  }).running;
  return { channel, sent };
}

const phrases = async () => phrasesIn("en");
const how: SendOptions = { idempotencyKey: "k", signal: new AbortController().signal };

it("replaces rejected attachments by texts that name them, and sends the rest once", async () => {
  const { channel, sent } = platform((part) =>
    part.type === "media" && part.name.startsWith("bad") ? new ChannelError("too_large", "no") : undefined,
  );
  const parts = [text("hi"), media("bad1"), media("good"), media("bad2")];
  const received: number[] = [];
  const logged: string[] = [];
  const receipt = await sendWithMediaFallback(
    channel,
    "to",
    { parts },
    { ...how, onPart: (part) => void received.push(part.index) },
    {
      logger: {
        ...silentLogger,
        error: (fields) => void logged.push(String(Reflect.get(fields, "name"))),
      },
      phrases,
      giveUp: () => undefined,
    },
  );
  const line = (name: string) => `[file: ${name} was not sent: the platform rejected it]`;
  expect(sent).toEqual(["hi", line("bad1"), "<good>", line("bad2")]);
  expect(received).toEqual([0, 1, 2, 3]);
  expect(receipt.parts.map((part) => part.index)).toEqual([0, 1, 2, 3]);
  expect(logged).toEqual(["bad1", "bad2"]);
});

it("replaces an attachment that is given up by a text with a new deadline", async () => {
  const parts = [text("hi"), media("never"), text("bye")];
  const fresh = new AbortController().signal;
  const asked: number[] = [];
  const fallback = (givenUp: boolean) => ({
    logger: silentLogger,
    phrases,
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
  await expect(sendWithMediaFallback(channel, "to", { parts }, how, fallback(false))).rejects.toThrow("x");
  const rest = { ...how, startAt: 1 };
  const receipt = await sendWithMediaFallback(channel, "to", { parts }, rest, fallback(true));
  expect(failing.sent).toEqual(["hi", "[file: never was not sent: the upload failed]", "bye"]);
  expect(receipt.parts.map(({ index }) => index)).toEqual([1, 2]);
  expect(asked).toEqual([1, 1]);
  expect(signals.map((signal) => signal === fresh)).toEqual([false, false, true]);
  // While the platform accepts nothing, the attachment is retried later.
  const down = platform(() => new ChannelError("transient", "down"));
  await expect(sendWithMediaFallback(down.channel, "to", { parts }, rest, fallback(true))).rejects.toThrow(
    "down",
  );
  expect(down.sent).toEqual([]);
});

it("rethrows a rejected text and a transient failure", async () => {
  const parts = [media("one"), text("hi")];
  const send = (reject: (part: OutboundPart) => ChannelError | undefined) => {
    const { channel } = platform(reject);
    return sendWithMediaFallback(channel, "to", { parts }, how, {
      logger: silentLogger,
      phrases,
      giveUp: () => undefined,
    });
  };
  const inText = new ChannelError("invalid", "text");
  await expect(send((part) => (part.type === "text" ? inText : undefined))).rejects.toThrow("text");
  await expect(send(() => new ChannelError("transient", "later"))).rejects.toThrow("later");
  // The conversation is gone, so the replacement text fails too.
  await expect(send(() => new ChannelError("not_found", "gone"))).rejects.toThrow("gone");
});
