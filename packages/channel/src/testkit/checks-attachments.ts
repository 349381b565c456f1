import { strict as assert } from "node:assert";
import {
  type Capabilities,
  type OutboundMediaKind,
  outboundMediaKinds,
  type SendMediaLimit,
} from "../contract/capabilities.ts";
import { ChannelError } from "../contract/errors.ts";
import type { MediaPart, OutboundPart, SendOptions } from "../contract/messages.ts";
import { never } from "./bench.ts";
import { type Check, method, needed, only, withKeys } from "./check.ts";
import { failing } from "./failing.ts";

/** The smallest thing of each kind that a server that looks at it takes for what it says. */
const samples: Readonly<Record<OutboundMediaKind, { readonly mimeType: string; readonly content: Buffer }>> =
  {
    image: {
      mimeType: "image/png",
      content: Buffer.from(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "base64",
      ),
    },
    audio: {
      mimeType: "audio/ogg",
      content: oggPage(0, Buffer.from("OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0", "latin1")),
    },
    video: { mimeType: "video/mp4", content: Buffer.from("\0\0\0\x18ftypisom\0\0\x02\0isomiso2", "latin1") },
    file: { mimeType: "text/plain", content: Buffer.from("line one\nline two\n") },
  };

/** RFC 3533: the header of a page, and one packet. */
function oggPage(sequence: number, packet: Buffer): Buffer {
  const head = Buffer.alloc(28);
  head.write("OggS", 0, "latin1");
  head.writeUInt8(sequence === 0 ? 2 : 0, 5);
  head.writeUInt32LE(1, 14);
  head.writeUInt32LE(sequence, 18);
  head.writeUInt8(1, 26);
  head.writeUInt8(packet.length, 27);
  return Buffer.concat([head, packet]);
}

type Claimed = readonly [OutboundMediaKind, SendMediaLimit];

function claimedBy({ sendMedia = {} }: Capabilities): readonly Claimed[] {
  return outboundMediaKinds.flatMap((kind): Claimed[] => {
    const limit = sendMedia[kind];
    return limit === undefined ? [] : [[kind, limit]];
  });
}

function partOf(kind: OutboundMediaKind, limit?: SendMediaLimit): MediaPart {
  const { mimeType, content } = samples[kind];
  assert.ok(
    limit?.mimeTypes?.includes(mimeType) ?? true,
    `the kit's sample of ${kind} is ${mimeType}, which the channel does not take`,
  );
  return { type: "media", kind, name: `${kind} 一.bin`, mimeType, size: content.byteLength, ref: kind };
}

/** Gives the samples out in small pieces, and counts how often. */
function source(opened: string[] = []): SendOptions {
  return {
    idempotencyKey: "conf-1",
    signal: never,
    openMedia: async ({ kind }) => {
      opened.push(kind);
      const { content } = samples[kind];
      return new ReadableStream({
        start(controller) {
          for (let at = 0; at < content.length; at += 7) controller.enqueue(content.subarray(at, at + 7));
          controller.close();
        },
      });
    },
  };
}

const withMedia = only("sendMedia", "sends no attachments");

/** Attachments that go out. */
export const attachmentChecks: readonly Check[] = [
  {
    group: "attachments",
    name: "refuses an attachment, as its capabilities say",
    applies: ({ capabilities }) => (capabilities.sendMedia === undefined ? undefined : "takes some"),
    async run({ open }) {
      await using bench = await open();
      const error = await failing(
        bench.channel.send(bench.platform.to, { parts: [partOf("file")] }, source()),
        "an attachment, where none can be sent,",
      );
      assert.equal(error.code, "unsupported");
      assert.deepEqual(bench.platform.sent(), []);
    },
  },
  {
    group: "attachments",
    name: "sends each kind it claims, byte for byte and among texts in order",
    applies: withMedia,
    async run({ open, definition }) {
      await using bench = await open();
      const sentMedia = method(bench.platform, "sentMedia");
      const claimed = claimedBy(definition.capabilities);
      assert.ok(claimed.length > 0, "sendMedia names no kind");
      const parts: OutboundPart[] = [
        { type: "text", text: "before" },
        ...claimed.map(([kind, limit]) => partOf(kind, limit)),
        { type: "text", text: "after" },
      ];
      const opened: string[] = [];
      const receipt = await bench.channel.send(bench.platform.to, { parts }, source(opened));
      assert.deepEqual(
        receipt.parts.map((part) => part.index),
        parts.map((_, index) => index),
      );
      assert.deepEqual(
        opened,
        claimed.map(([kind]) => kind),
      );
      for (const [index, one] of sentMedia().entries()) {
        const [kind] = claimed[index] ?? [];
        assert.equal(one.kind, kind);
        assert.equal(one.messageId, receipt.parts[index + 1]?.messageId);
        if (one.name !== undefined) assert.equal(one.name, `${kind} 一.bin`);
        assert.deepEqual(Buffer.from(one.content), kind && samples[kind].content);
      }
      assert.equal(sentMedia().length, claimed.length);
    },
  },
  {
    group: "attachments",
    name: "refuses before it opens it what is too large, empty or of a kind it does not claim",
    applies: withMedia,
    async run({ open, definition }) {
      await using bench = await open();
      const opened: string[] = [];
      const refused = async (part: MediaPart) =>
        (
          await failing(
            bench.channel.send(bench.platform.to, { parts: [part] }, source(opened)),
            `a ${part.kind} of ${part.size} bytes, ${part.mimeType},`,
          )
        ).code;
      for (const [kind, limit] of claimedBy(definition.capabilities)) {
        assert.equal(await refused({ ...partOf(kind, limit), size: limit.maxBytes + 1 }), "too_large");
        assert.equal(await refused({ ...partOf(kind, limit), size: 0 }), "invalid");
        if (limit.mimeTypes !== undefined)
          assert.equal(await refused({ ...partOf(kind, limit), mimeType: "x-odd/type" }), "unsupported");
      }
      const claimed = definition.capabilities.sendMedia ?? {};
      for (const kind of outboundMediaKinds) {
        if (claimed[kind] === undefined) assert.equal(await refused(partOf(kind)), "unsupported");
      }
      assert.deepEqual(opened, []);
      assert.deepEqual(bench.platform.sent(), []);
    },
  },
  {
    group: "attachments",
    name: "sends nothing where the bytes are gone, break off or are not as many as was said",
    applies: withMedia,
    async run({ open, definition }) {
      await using bench = await open();
      const [claimed] = claimedBy(definition.capabilities);
      const part = partOf(...needed(claimed, "kind of attachment"));
      const { content } = samples[part.kind];
      const send = (openMedia: NonNullable<SendOptions["openMedia"]>, size = part.size) =>
        failing(
          bench.channel.send(
            bench.platform.to,
            { parts: [{ ...part, size }] },
            { idempotencyKey: "conf-1", signal: never, openMedia },
          ),
          "an attachment whose bytes are not as it says",
        );
      const gone = await send(async () => {
        throw new ChannelError("not_found", "gone");
      });
      assert.equal(gone.code, "not_found");
      const broken = await send(
        async () =>
          new ReadableStream({
            pull(controller) {
              controller.error(new Error("broken off"));
            },
          }),
      );
      assert.equal(broken.code, "transient");
      const whole = async () => new Blob([new Uint8Array(content)]).stream();
      assert.equal((await send(whole, part.size + 1)).code, "invalid");
      assert.equal((await send(whole, part.size - 1)).code, "invalid");
      const without = bench.channel.send(
        bench.platform.to,
        { parts: [part] },
        { idempotencyKey: "conf-1", signal: never },
      );
      assert.equal((await failing(without, "an attachment without openMedia")).code, "unsupported");
      assert.deepEqual(bench.platform.sent(), []);
    },
  },
  {
    group: "attachments",
    name: "repeats an attachment without a second message",
    applies: (definition) => withMedia(definition) ?? withKeys(definition),
    async run({ open, definition }) {
      await using bench = await open();
      const sentMedia = method(bench.platform, "sentMedia");
      const [claimed] = claimedBy(definition.capabilities);
      const parts = [partOf(...needed(claimed, "kind of attachment"))];
      const first = await bench.channel.send(bench.platform.to, { parts }, source());
      const again = await bench.channel.send(bench.platform.to, { parts }, source());
      assert.deepEqual(again, first);
      assert.equal(sentMedia().length, 1);
    },
  },
];
