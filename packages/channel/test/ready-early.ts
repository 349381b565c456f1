/** The package of a channel that says that it is ready before it has started. */
import { type ChannelDefinition, ChannelError } from "../src/index.ts";

/** Ends the start of each account, in their order. */
export const starts: (() => void)[] = [];

const definition: ChannelDefinition = {
  specVersion: 1,
  id: "ready-early",
  meta: { label: "Ready early", fields: {} },
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
  create: async () => ({
    start: () => new Promise((resolve) => starts.push(resolve)),
    async stop() {},
    health: () => ({ state: "ready" }),
    self: () => undefined,
    async send() {
      throw new ChannelError("unsupported", "nothing is sent");
    },
  }),
};

export default definition;
