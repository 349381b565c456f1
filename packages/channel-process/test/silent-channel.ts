import { type Channel, type ChannelContext, type ChannelDefinition, ChannelError } from "@signalbox/channel";

/** A channel that accepts any configuration and sends nothing. Each test defines its `start`. */
export function silentChannel(
  id: string,
  start: (context: ChannelContext<unknown>) => ReturnType<Channel["start"]>,
): ChannelDefinition {
  return {
    specVersion: 1,
    id,
    meta: { label: id, fields: {} },
    config: { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) } },
    capabilities: {
      text: { max: 400, unit: "codepoints", markup: "plain" },
      stream: "none",
      threads: "none",
      delivery: {},
      rate: [],
      transports: ["poll"],
    },
    codec: { encode: String, decode: (text) => text },
    create: async (context) => ({
      start: () => start(context),
      async stop() {},
      health: () => ({ state: "ready" }),
      self: () => undefined,
      async send() {
        throw new ChannelError("unsupported", "this channel cannot send");
      },
    }),
  };
}
