import type { Capabilities, MessageEvent } from "@signalbox/channel";
import type { AttachmentLogger } from "../src/ports.ts";

export const silentLogger: AttachmentLogger = { debug() {}, warn() {} };

export const plainCapabilities: Capabilities = {
  text: { unit: "utf16", markup: "plain" },
  stream: "none",
  threads: "none",
  delivery: {},
  rate: [],
  transports: ["internal"],
};

export function plainMessage(more: Partial<MessageEvent> = {}): MessageEvent {
  return {
    type: "message",
    eventId: "e",
    messageId: "m",
    channel: "plain",
    account: "main",
    conversation: { id: "room", kind: "direct" },
    address: "room",
    addressed: "dm",
    sender: { id: "anna", isBot: false, isSelf: false },
    timestamp: 0,
    text: "hello",
    media: [],
    mentions: [],
    ...more,
  };
}
