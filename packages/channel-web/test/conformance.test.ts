import { type ChannelHarness, runChannelConformance } from "@signalbox/channel/testkit";
import { afterAll, describe, it } from "vitest";
import { inMatrix } from "../../../scripts/channel-matrix.ts";
import { attachmentOf, createWebHub, type WebAddress } from "../src/index.ts";

const hub = createWebHub();

const picture = attachmentOf("image", "data:image/png;base64,AAEC");
if (picture === undefined) throw new Error("a data: URL is an attachment");

const harness: ChannelHarness<WebAddress> = {
  addresses: [{ conversation: "01K" }, { conversation: "with space/ü:😀" }],
  entry: { url: new URL("../src/index.ts", import.meta.url).href, sdk: ["ws", "hono"] },
  async open() {
    const sent: { messageId: string; text: string }[] = [];
    const stop = hub.subscribe("c-1", (update) => {
      sent.push({ messageId: update.messageId, text: update.text });
    });
    return {
      config: {},
      secrets: [],
      to: { conversation: "c-1" },
      sent: () => sent,
      media: { ref: picture, content: new Uint8Array([0, 1, 2]) },
      async deliver(_channel, { messageId, text }) {
        const result = await hub
          .submit({ conversation: "c-1", user: { id: "alice" }, text, id: messageId })
          .catch(() => "rejected");
        return result !== "rejected";
      },
      close: async () => stop(),
    };
  },
};

const byHost =
  "there is no platform to download from; the message contains the bytes, or the host fetches them";

runChannelConformance(hub.definition, harness, {
  test: { describe, it, afterAll },
  skip: [
    { check: "fetches attachments up to its size limit", reason: byHost },
    { check: "aborts downloads over its size limit, announced or not", reason: byHost },
    { check: "reports the type from the platform's response", reason: byHost },
    { check: "requests attachments only from the platform", reason: byHost },
    { check: "does not follow cross-origin redirects", reason: byHost },
  ],
  print: inMatrix("web"),
});
