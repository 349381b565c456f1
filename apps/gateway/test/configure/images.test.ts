import { readImageInfo } from "@signalbox/agent-core";
import { createIncoming } from "@signalbox/attachments";
import type { Capabilities } from "@signalbox/channel";
import { plainMessage } from "@signalbox/channel/testkit";
import { detectEncoding } from "@signalbox/tools";
import sharp, { type Sharp } from "sharp";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createImageFitter } from "../../src/agent/images.ts";

const CAPABILITIES: Capabilities = {
  text: { unit: "utf16", markup: "plain" },
  stream: "none",
  threads: "none",
  delivery: {},
  rate: [],
  transports: ["internal"],
};
const fit = createImageFitter((error) => {
  throw error;
});
const LARGE = { width: 10_000, height: 1_000 };

function picture(channels: 3 | 4, size = LARGE) {
  return sharp({ create: { ...size, channels, background: { r: 200, g: 30, b: 30, alpha: 0.5 } } });
}

/** Nothing makes it small but having fewer pixels. */
function noise(size: typeof LARGE) {
  return sharp({
    create: {
      ...size,
      channels: 3,
      background: "white",
      noise: { type: "gaussian", mean: 128, sigma: 60 },
    },
  });
}

describe("a picture that is larger than vendors take", () => {
  it("is made as small, the same each time, and keeps what is seen through", async () => {
    const photo = await picture(3).jpeg().toBuffer();
    const [once, again] = [await fit(photo, LARGE), await fit(photo, LARGE)];
    expect(once).toEqual(again);
    expect(readImageInfo(once?.bytes ?? photo)).toEqual({
      mimeType: "image/jpeg",
      width: 2_000,
      height: 200,
    });
    const drawing = await fit(await picture(4).png().toBuffer(), LARGE);
    expect(readImageInfo(drawing?.bytes ?? photo)).toEqual({
      mimeType: "image/png",
      width: 2_000,
      height: 200,
    });
  });

  it("stands upright, and says nothing of the camera", async () => {
    const turned = await picture(3)
      .withExif({ IFD0: { Model: "Camera" } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    const fitted = await fit(turned, LARGE);
    const { width, height, exif } = await sharp(fitted?.bytes).metadata();
    expect({ width, height, exif }).toEqual({ width: 200, height: 2_000, exif: undefined });
  });

  it("is left as it is where it is small enough, unpacks to more than is sane, or is none", async () => {
    for (const size of [
      { width: 800, height: 600 },
      { width: 1_080, height: 2_000 },
    ])
      expect(await fit(await picture(3, size).png().toBuffer(), size)).toBeUndefined();
    const photo = await picture(3).jpeg().toBuffer();
    expect(await fit(photo, { width: 50_000, height: 50_000 })).toBeUndefined();
    expect(await fit(photo, {})).toBeUndefined();
    expect(await fit(Buffer.from("no picture"), LARGE)).toBeUndefined();
  });

  it("loses as little as possible where only its bytes are too many", async () => {
    const size = { width: 1_500, height: 1_000 };
    const heavy = await noise(size).png({ compressionLevel: 0 }).toBuffer();
    expect(heavy.byteLength).toBeGreaterThan(3_750_000);
    expect(readImageInfo((await fit(heavy, size))?.bytes ?? heavy)).toMatchObject(size);
    const flat = await picture(3, size).png({ compressionLevel: 0 }).toBuffer();
    expect(readImageInfo((await fit(flat, size))?.bytes ?? flat)).toEqual({ mimeType: "image/png", ...size });
  });

  it("stays as it is where `sharp` is not installed, which is told once", async () => {
    const told: unknown[] = [];
    const missing = new Error("Cannot find package 'sharp'");
    const fitNothing = createImageFitter(
      (error) => told.push(error),
      () => Promise.reject(missing),
    );
    const photo = await picture(3).jpeg().toBuffer();
    expect(await fitNothing(photo, { width: 100, height: 100 })).toBeUndefined();
    expect(told).toEqual([]);
    for (const _ of [1, 2]) expect(await fitNothing(photo, LARGE)).toBeUndefined();
    expect(told).toEqual([missing]);
  });

  it("waits until the one before it is done", async () => {
    const photo = await picture(3).jpeg().toBuffer();
    // On a busy machine three of them may take longer than one is waited for.
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    // The counters of sharp change in its own threads, so they can be read halfway through a change.
    const encode = sharp.prototype.toBuffer;
    let atOnce = 0;
    let most = 0;
    const counted = vi.spyOn(sharp.prototype, "toBuffer").mockImplementation(async function (this: Sharp) {
      atOnce += 1;
      most = Math.max(most, atOnce);
      return await encode.call(this).finally(() => {
        atOnce -= 1;
      });
    });
    onTestFinished(() => void counted.mockRestore());
    const fitted = await Promise.all(
      [photo, Buffer.from("no picture"), photo, photo].map((each) => fit(each, LARGE)),
    );
    expect(fitted.map((each) => each?.mimeType)).toEqual([
      "image/jpeg",
      undefined,
      "image/jpeg",
      "image/jpeg",
    ]);
    expect(most).toBe(1);
  });

  it("is not waited for behind eight others, after ten seconds, or by what has ended", async () => {
    const photo = await picture(3).jpeg().toBuffer();
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const ended = new AbortController();
    const order: string[] = [];
    const first = fit(photo, LARGE).finally(() => order.push("first"));
    const endedEarly = fit(photo, LARGE, ended.signal).finally(() => order.push("ended"));
    const waiting = Array.from({ length: 6 }, () => fit(photo, LARGE));
    expect(await fit(photo, LARGE)).toBeUndefined();
    ended.abort();
    expect(await endedEarly).toBeUndefined();
    expect(await first).toBeDefined();
    expect(order).toEqual(["ended", "first"]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await waiting.at(-1)).toBeUndefined();
    await Promise.all(waiting);
    expect(await fit(photo, LARGE, ended.signal)).toBeUndefined();
    await expect.poll(() => fit(photo, LARGE)).toBeDefined();
  });

  it.each([
    ["is shown smaller", fit, { note: "shown to you as image" }, 2_000],
    ["is named where nothing makes it smaller", undefined, { note: "too large to be shown" }, undefined],
  ])("that came with a message %s", async (_, fitPicture, described, width) => {
    const bytes = await noise({ width: 2_600, height: 2_600 }).jpeg({ quality: 95 }).toBuffer();
    expect(bytes.byteLength).toBeGreaterThan(3_750_000);
    const media = { kinds: ["image" as const], maxBytes: 20_000_000, maxPerMessage: 1 };
    const incoming = createIncoming({
      account: () => ({
        definition: { capabilities: { ...CAPABILITIES, media } },
        running: {
          fetchMedia: async () => ({
            body: new Blob([new Uint8Array(bytes)]).stream(),
            mimeType: "image/jpeg",
          }),
        },
      }),
      folder: () => Promise.reject(new Error("there is none")),
      inspector: { detectEncoding, fitImage: fitPicture },
      limits: () => ({ files: 10, bytes: 1_000_000 }),
      logger: { debug() {}, warn() {} },
    });
    const event = plainMessage({
      messageId: "m1",
      text: "",
      media: [{ kind: "image", mimeType: "image/jpeg", ref: "r" }],
    });
    const [shown] = await incoming.show([{ id: "m1", agentId: "coder", event }], ["text", "image"]);
    expect(shown?.files).toMatchObject([described]);
    const [block] = shown?.blocks ?? [];
    const data = block?.type === "image" && block.source.kind === "base64" ? block.source.data : undefined;
    expect(data && readImageInfo(Buffer.from(data, "base64"))?.width).toBe(width);
  });
});
