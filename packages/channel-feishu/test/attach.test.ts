import { isChannelError, type MediaPart, type SendOptions } from "@signalbox/channel";
import { describe, expect, it } from "vitest";
import { never, openBench } from "./harness.ts";

const chat = { id: "oc_direct" };
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** An Ogg page: capture pattern, flags, position in samples, then its packet. */
function page(samples: number, packet: string): Buffer {
  const head = Buffer.alloc(28);
  head.write("OggS", "latin1");
  head.writeBigInt64LE(BigInt(samples), 6);
  head.writeUInt8(1, 26);
  head.writeUInt8(packet.length, 27);
  return Buffer.concat([head, Buffer.from(packet, "latin1")]);
}

function attachment(part: Partial<MediaPart>, content: Buffer): { part: MediaPart; options: SendOptions } {
  return {
    part: { type: "media", kind: "file", name: "a", mimeType: "x/y", size: content.length, ref: 1, ...part },
    options: {
      idempotencyKey: "run1",
      signal: never,
      openMedia: async () => new Blob([new Uint8Array(content)]).stream(),
    },
  };
}

describe("attachments", () => {
  it("uploads spoken words with how long they last, and other audio as a file", async () => {
    await using bench = await openBench();
    const opus = attachment(
      { kind: "audio", name: "said.ogg", mimeType: "audio/ogg" },
      Buffer.concat([page(0, "OpusHead"), page(0, "OpusTags"), page(72_000, "sound")]),
    );
    await bench.channel.send(chat, { parts: [opus.part] }, opus.options);
    const vorbis = attachment(
      { kind: "audio", name: "song.ogg", mimeType: "audio/ogg" },
      page(1, "\x01vorbis"),
    );
    await bench.channel.send(chat, { parts: [vorbis.part] }, { ...vorbis.options, idempotencyKey: "run2" });
    const { sent } = bench.fakeServer;
    expect(sent.map((one) => one.msgType)).toEqual(["audio", "file"]);
    expect(sent.map((one) => bench.fakeServer.upload(one))).toMatchObject([
      { type: "opus", name: "said.ogg", duration: 1500 },
      { type: "stream", name: "song.ogg" },
    ]);
  });

  it("gives documents Feishu's own preview", async () => {
    await using bench = await openBench();
    const types = {
      "application/pdf": "pdf",
      "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "doc",
      "application/vnd.ms-excel": "xls",
      "application/vnd.openxmlformats-officedocument.presentationml.presentation": "ppt",
      "text/csv": "stream",
    };
    const parts = Object.keys(types).map((mimeType) => attachment({ mimeType }, Buffer.from("x")).part);
    await bench.channel.send(chat, { parts }, attachment({}, Buffer.from("x")).options);
    expect(bench.fakeServer.sent.map((one) => bench.fakeServer.upload(one)?.type)).toEqual(
      Object.values(types),
    );
  });

  it("uploads what is exactly as large as Feishu takes, and nothing that is larger or empty", async () => {
    await using bench = await openBench();
    const largest = { image: 10 * 1024 * 1024, file: 30 * 1024 * 1024 };
    const picture = { kind: "image", name: "p.png", mimeType: "image/png" } as const;
    const file = { kind: "file", name: "f.bin" } as const;
    const send = async (part: Partial<MediaPart>, size: number, idempotencyKey: string) => {
      const content = Buffer.concat([png, Buffer.alloc(Math.max(0, size - png.length))]).subarray(0, size);
      const sending = attachment(part, content);
      await bench.channel.send(chat, { parts: [sending.part] }, { ...sending.options, idempotencyKey });
    };
    await send(picture, largest.image, "run1");
    await send(file, largest.file, "run2");
    const uploads = bench.fakeServer.sent.map((one) => bench.fakeServer.upload(one));
    expect(uploads.map((upload) => [upload?.type, upload?.content.byteLength])).toEqual([
      ["image", largest.image],
      ["stream", largest.file],
    ]);
    const asked = bench.fakeServer.requests.length;
    for (const [part, size] of [
      [picture, largest.image + 1],
      [file, largest.file + 1],
      [file, 0],
    ] as const) {
      const refused = await send(part, size, "run3").catch((error: unknown) => error);
      expect(isChannelError(refused) && refused.code).toBe(size === 0 ? "invalid" : "too_large");
    }
    expect(bench.fakeServer.requests).toHaveLength(asked);
  });

  it("sends as a file a picture that Feishu cannot read or finds too large", async () => {
    await using bench = await openBench();
    const wide = Buffer.from(png);
    wide.writeUInt32BE(12_001, 16);
    const wideGif = Buffer.from("GIF89a\xd1\x07\x01\x00", "latin1");
    for (const [index, content] of [wide, Buffer.from("not a picture"), wideGif].entries()) {
      const { part, options } = attachment({ kind: "image", name: "p.png", mimeType: "image/png" }, content);
      await bench.channel.send(chat, { parts: [part] }, { ...options, idempotencyKey: `run${index}` });
    }
    expect(bench.fakeServer.sent.map((one) => one.msgType)).toEqual(["file", "file", "file"]);
    expect(bench.fakeServer.upload(bench.fakeServer.sent[1] ?? { content: "{}" })?.name).toBe("p.png");
  });

  it("shows nothing after an upload that failed, and says whether to try again", async () => {
    await using bench = await openBench();
    const { part, options } = attachment({ kind: "image", name: "p.png", mimeType: "image/png" }, png);
    const code = async () => {
      const error: unknown = await bench.channel
        .send(chat, { parts: [part] }, options)
        .catch((thrown: unknown) => thrown);
      return isChannelError(error) ? error.code : error;
    };
    bench.fakeServer.fail({ kind: "cut", method: "POST", path: "/im/v1/images" });
    expect(await code()).toBe("transient");
    bench.fakeServer.fail({ kind: "rate", method: "POST", path: "/im/v1/images" });
    expect(await code()).toBe("rate_limited");
    // Refused as an image, and then as a file.
    bench.fakeServer.fail({ kind: "code", code: 234006, method: "POST", path: "/im/v1/", times: 2 });
    expect(await code()).toBe("too_large");
    expect(bench.fakeServer.sent).toEqual([]);
    bench.fakeServer.fail({ kind: "cut", method: "POST", path: "/im/v1/messages" });
    expect(await code()).toBe("unknown_outcome");
    await bench.channel.send(chat, { parts: [part] }, options);
    expect(bench.fakeServer.sent).toHaveLength(1);
  });

  it("tells only the absence of an attachment whose outcome is open", async () => {
    await using bench = await openBench();
    const { part, options } = attachment({ kind: "image", name: "p.png", mimeType: "image/png" }, png);
    const intent = { to: chat, idempotencyKey: "run1", part: 0, content: part, attemptedAt: Date.now() };
    expect(await bench.channel.reconcile?.(intent, never)).toEqual({ outcome: "not_sent" });
    await bench.channel.send(chat, { parts: [part] }, options);
    expect(await bench.channel.reconcile?.(intent, never)).toEqual({ outcome: "unknown" });
  });
});
