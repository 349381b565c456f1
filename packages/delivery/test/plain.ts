import type { Capabilities, Channel } from "@signalbox/channel";
import type { DeliveryAccount } from "../src/account.ts";
import type { DeliveryLogger } from "../src/logger.ts";

export const silentLogger: DeliveryLogger = { debug() {}, warn() {}, error() {} };

/** A platform that knows keys for an hour. */
export const KEYED: Capabilities = {
  text: { unit: "utf16", markup: "plain" },
  stream: "draft",
  threads: "reply",
  delivery: { idempotencyKey: { windowMs: 3_600_000 } },
  rate: [],
  transports: ["internal"],
};

/** A running account whose channel does nothing but what `methods` say. */
export function plainAccount(
  methods: Partial<Channel>,
  { account = "main", capabilities = KEYED }: { account?: string; capabilities?: Capabilities } = {},
): DeliveryAccount {
  return {
    channel: "plain",
    account,
    definition: { capabilities, codec: { encode: String, decode: (text) => text } },
    running: {
      start: async () => {},
      stop: async () => {},
      health: () => ({ state: "ready" }),
      self: () => undefined,
      send: () => Promise.reject(new Error("nothing is sent here")),
      ...methods,
    },
  };
}
