import {
  type Capabilities,
  type OutboundMediaKind,
  outboundMediaKinds,
  type SendMediaLimit,
} from "../contract/capabilities.ts";
import { ChannelError, type ChannelErrorCode } from "../contract/errors.ts";
import type { MediaPart, OutboundPart, SendOptions } from "../contract/messages.ts";
import { never } from "./bench.ts";
import { type Check, method, required, requires, requiresKeys } from "./check.ts";
import { expectChannelError, expectEqual, expectThat } from "./expect.ts";

const group = "attachments";

/** The smallest valid file of each type, for servers that inspect uploads. */
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
      content: Buffer.concat([
        createOggPage(0, 0n, Buffer.from("OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0", "latin1")),
        // One second of silence.
        createOggPage(1, 48_000n, Buffer.from([0xf8, 0xff, 0xfe])),
      ]),
    },
    video: { mimeType: "video/mp4", content: Buffer.from("\0\0\0\x18ftypisom\0\0\x02\0isomiso2", "latin1") },
    file: { mimeType: "text/plain", content: Buffer.from("line one\nline two\n") },
  };

/** Creates an Ogg page with a header and one packet (RFC 3533). `position` is the number of samples until its end. */
function createOggPage(sequence: number, position: bigint, packet: Buffer): Buffer {
  const head = Buffer.alloc(28);
  head.write("OggS", 0, "latin1");
  head.writeUInt8(sequence === 0 ? 2 : 4, 5);
  head.writeBigUInt64LE(position, 6);
  head.writeUInt32LE(1, 14);
  head.writeUInt32LE(sequence, 18);
  head.writeUInt8(1, 26);
  head.writeUInt8(packet.length, 27);
  return Buffer.concat([head, packet]);
}

type Claim = readonly [OutboundMediaKind, SendMediaLimit];

function getClaims({ sendMedia = {} }: Capabilities): readonly Claim[] {
  return outboundMediaKinds.flatMap((kind): Claim[] => {
    const limit = sendMedia[kind];
    return limit === undefined ? [] : [[kind, limit]];
  });
}

function createPart(kind: OutboundMediaKind, limit?: SendMediaLimit): MediaPart {
  const { mimeType, content } = samples[kind];
  expectThat(
    limit?.mimeTypes?.includes(mimeType) ?? true,
    `The suite's sample of the kind ${kind} has the type ${mimeType}, which the channel must accept`,
  );
  return { type: "media", kind, name: `${kind} 一.bin`, mimeType, size: content.byteLength, ref: kind };
}

/** Creates send options whose `openMedia` yields the samples in small chunks and records the opened parts. */
function createOptions(opened: string[] = []): SendOptions {
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

const applies = requires("sendMedia", "sends no attachments");

/** Checks of outbound attachments. */
export const attachmentChecks: readonly Check[] = [
  {
    group,
    name: "rejects attachments if it claims none",
    applies: ({ capabilities }) => (capabilities.sendMedia === undefined ? undefined : "accepts some"),
    async run({ open }) {
      await using bench = await open();
      await expectChannelError(
        bench.channel.send(bench.platform.to, { parts: [createPart("file")] }, createOptions()),
        "Sending an attachment without capabilities.sendMedia",
        "unsupported",
      );
      expectEqual(bench.platform.sent(), [], "A rejected attachment must not be sent");
    },
  },
  {
    group,
    name: "sends each claimed kind unchanged and in order",
    applies,
    async run({ open, definition }) {
      await using bench = await open();
      const sentMedia = method(bench.platform, "sentMedia");
      const claims = getClaims(definition.capabilities);
      expectThat(claims.length > 0, "capabilities.sendMedia must contain a kind");
      const parts: OutboundPart[] = [
        { type: "text", text: "before" },
        ...claims.map(([kind, limit]) => createPart(kind, limit)),
        { type: "text", text: "after" },
      ];
      const opened: string[] = [];
      const receipt = await bench.channel.send(bench.platform.to, { parts }, createOptions(opened));
      expectEqual(
        receipt.parts.map((part) => part.index),
        parts.map((_, index) => index),
        "The receipt must list the index of every part in order",
      );
      expectEqual(
        opened,
        claims.map(([kind]) => kind),
        "Every attachment must be opened once, in order",
      );
      expectEqual(sentMedia().length, claims.length, "The platform has the wrong number of attachments");
      for (const [index, one] of sentMedia().entries()) {
        const [kind] = claims[index] ?? [];
        const what = `Attachment ${index}, sent as ${kind},`;
        expectEqual(one.kind, kind, `${what} arrived as another kind`);
        expectEqual(
          one.messageId,
          receipt.parts[index + 1]?.messageId,
          `${what} has another message id than its receipt`,
        );
        if (one.name !== undefined) expectEqual(one.name, `${kind} 一.bin`, `${what} has the wrong name`);
        expectEqual(
          Buffer.from(one.content),
          kind && samples[kind].content,
          `${what} arrived with different bytes`,
        );
      }
    },
  },
  {
    group,
    name: "rejects oversized, empty and unclaimed attachments before opening them",
    applies,
    async run({ open, definition }) {
      await using bench = await open();
      const opened: string[] = [];
      const expectRejected = (part: MediaPart, code: ChannelErrorCode) =>
        expectChannelError(
          bench.channel.send(bench.platform.to, { parts: [part] }, createOptions(opened)),
          `Sending a ${part.kind} of ${part.size} bytes with the type ${part.mimeType}`,
          code,
        );
      for (const [kind, limit] of getClaims(definition.capabilities)) {
        await expectRejected({ ...createPart(kind, limit), size: limit.maxBytes + 1 }, "too_large");
        await expectRejected({ ...createPart(kind, limit), size: 0 }, "invalid");
        if (limit.mimeTypes !== undefined)
          await expectRejected({ ...createPart(kind, limit), mimeType: "x-odd/type" }, "unsupported");
      }
      const claimed = definition.capabilities.sendMedia ?? {};
      for (const kind of outboundMediaKinds)
        if (claimed[kind] === undefined) await expectRejected(createPart(kind), "unsupported");
      expectEqual(opened, [], "A rejected attachment must not be opened");
      expectEqual(bench.platform.sent(), [], "A rejected attachment must not be sent");
    },
  },
  {
    group,
    name: "sends nothing if the bytes are missing, incomplete or wrong in length",
    applies,
    async run({ open, definition }) {
      await using bench = await open();
      const [claim] = getClaims(definition.capabilities);
      const part = createPart(...required(claim, "kind of attachment"));
      const { content } = samples[part.kind];
      const expectFailing = (
        what: string,
        code: ChannelErrorCode,
        openMedia: SendOptions["openMedia"],
        size = part.size,
      ) =>
        expectChannelError(
          bench.channel.send(
            bench.platform.to,
            { parts: [{ ...part, size }] },
            { idempotencyKey: "conf-1", signal: never, openMedia },
          ),
          `Sending an attachment ${what}`,
          code,
        );
      await expectFailing("whose bytes no longer exist", "not_found", async () => {
        throw new ChannelError("not_found", "gone");
      });
      await expectFailing(
        "whose stream fails",
        "transient",
        async () => new ReadableStream({ pull: (controller) => controller.error(new Error("broken off")) }),
      );
      const complete = async () => new Blob([new Uint8Array(content)]).stream();
      await expectFailing("that is shorter than announced", "invalid", complete, part.size + 1);
      await expectFailing("that is longer than announced", "invalid", complete, part.size - 1);
      await expectFailing("without openMedia", "unsupported", undefined);
      expectEqual(bench.platform.sent(), [], "An attachment that failed must not be sent");
    },
  },
  {
    group,
    name: "resends an attachment without a duplicate",
    applies: (definition) => applies(definition) ?? requiresKeys(definition),
    async run({ open, definition }) {
      await using bench = await open();
      const sentMedia = method(bench.platform, "sentMedia");
      const [claim] = getClaims(definition.capabilities);
      const parts = [createPart(...required(claim, "kind of attachment"))];
      const first = await bench.channel.send(bench.platform.to, { parts }, createOptions());
      const again = await bench.channel.send(bench.platform.to, { parts }, createOptions());
      expectEqual(again, first, "Sending an attachment again with the same key must return the same receipt");
      expectEqual(
        sentMedia().length,
        1,
        "Sending an attachment again with the same key must not create a second message",
      );
    },
  },
];
