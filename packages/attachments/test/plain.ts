import type { Capabilities } from "@signalbox/channel";
import type { AttachmentLogger } from "../src/types.ts";

export const silentLogger: AttachmentLogger = { debug() {}, warn() {} };

export const plainCapabilities: Capabilities = {
  text: { unit: "utf16", markup: "plain" },
  stream: "none",
  threads: "none",
  delivery: {},
  rate: [],
  transports: ["internal"],
};
