import { createIncoming } from "@signalbox/attachments";
import type { Capabilities } from "@signalbox/channel";
import { plainMessage } from "@signalbox/channel/testkit";
import { detectEncoding, imageInfo } from "@signalbox/tools";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { createPictureFitter } from "../src/index.ts";

const CAPABILITIES: Capabilities = {
  text: { unit: "utf16", markup: "plain" },
  stream: "none",
  threads: "none",
  delivery: {},
  rate: [],
  transports: ["internal"],
};
const fit = createPictureFitter();
const LARGE = { width: 4_000, height: 2_000 };

function picture(channels: 3 | 4, size = LARGE) {
  return sharp({ create: { ...size, channels, background: { r: 200, g: 30, b: 30, alpha: 0.5 } } });
}

describe("a picture that is larger than models take", () => {
  it("is made as small, the same each time, and keeps what is seen through", async () => {
    const photo = await picture(3).jpeg().toBuffer();
    const [once, again] = [await fit(photo, LARGE), await fit(photo, LARGE)];
    expect(once).toEqual(again);
    expect(imageInfo(once?.bytes ?? photo)).toEqual({ mimeType: "image/jpeg", width: 1_568, height: 784 });
    const drawing = await fit(await picture(4).png().toBuffer(), LARGE);
    expect(imageInfo(drawing?.bytes ?? photo)).toEqual({ mimeType: "image/png", width: 1_568, height: 784 });
  });

  it("stands upright, and says nothing of the camera", async () => {
    const turned = await picture(3)
      .withExif({ IFD0: { Model: "Camera" } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    const fitted = await fit(turned, LARGE);
    const { width, height, exif } = await sharp(fitted?.bytes).metadata();
    expect({ width, height, exif }).toEqual({ width: 784, height: 1_568, exif: undefined });
  });

  it("is left as it is where it is small enough, unpacks to more than is sane, or is none", async () => {
    const size = { width: 800, height: 600 };
    expect(await fit(await picture(3, size).png().toBuffer(), size)).toBeUndefined();
    const photo = await picture(3).jpeg().toBuffer();
    expect(await fit(photo, { width: 50_000, height: 50_000 })).toBeUndefined();
    expect(await fit(photo, {})).toBeUndefined();
    expect(await fit(Buffer.from("no picture"), LARGE)).toBeUndefined();
  });

  it.each([
    ["is shown smaller", fit, { note: "shown to you as image" }, 1_568],
    ["is named where nothing makes it smaller", undefined, { note: "too large to be shown" }, undefined],
  ])("that came with a message %s", async (_, fitPicture, described, width) => {
    // Noise: nothing makes it small but having fewer pixels.
    const noise = sharp({
      create: {
        width: 2_500,
        height: 2_500,
        channels: 3,
        background: "white",
        noise: { type: "gaussian", mean: 128, sigma: 60 },
      },
    });
    const bytes = await noise.jpeg({ quality: 95 }).toBuffer();
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
      inspector: { detectEncoding, imageInfo, ...(fitPicture === undefined ? {} : { fitPicture }) },
      kept: () => ({ files: 10, bytes: 1_000_000 }),
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
    expect(data && imageInfo(Buffer.from(data, "base64"))?.width).toBe(width);
  });
});
