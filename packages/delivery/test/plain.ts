import type { Capabilities, Channel } from "@signalbox/channel";
import type { Logger } from "@signalbox/store/types";
import type { DeliveryAccount } from "../src/account.ts";

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** A platform that deduplicates by idempotency key for an hour. */
export const KEYED: Capabilities = {
  text: { unit: "utf16", markup: "plain" },
  stream: "draft",
  threads: "reply",
  delivery: { idempotencyKey: { windowMs: 3_600_000 } },
  rate: [],
  transports: ["internal"],
};

/** A running account of a channel that implements only `methods`. */
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
      send: () => Promise.reject(new Error("this channel does not send")),
      ...methods,
    },
  };
}
