import { type ChannelHarness, runChannelConformance } from "@signalbox/channel/testkit";
import { afterAll, describe, it } from "vitest";
import { createWebHub, type WebAddress } from "../src/index.ts";

const hub = createWebHub();

const harness: ChannelHarness<WebAddress> = {
  addresses: [{ conversation: "01K" }, { conversation: "with space/ü:😀" }],
  entry: { url: new URL("../src/index.ts", import.meta.url).href, sdk: ["ws", "hono"] },
  async open() {
    const sent: { messageId: string; text: string }[] = [];
    const drafted: string[] = [];
    const stop = hub.subscribe("c-1", (update) => {
      if (update.type === "message") sent.push({ messageId: update.messageId, text: update.text });
      if (update.type === "draft") drafted.push(update.text);
    });
    return {
      config: {},
      secrets: [],
      to: { conversation: "c-1" },
      sent: () => sent,
      drafted: () => drafted,
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

runChannelConformance(hub.definition, harness, { test: { describe, it, afterAll } });
