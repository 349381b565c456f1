/** The package of a channel that prints, and logs more than anybody reads. */
import process from "node:process";
import { type ChannelDefinition, ChannelError } from "../src/index.ts";

const definition: ChannelDefinition = {
  specVersion: 1,
  id: "printing",
  meta: { label: "Printing", fields: {} },
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
  create: async ({ logger }) => ({
    async start() {
      for (let entry = 0; entry < 1_000; entry++) logger.info(`entry ${entry}`);
      logger.error("the last entry");
      process.stderr.write("Error: something broke\n    at the second line\n");
      process.stdout.write(`proxy ${process.env.https_proxy}, home ${process.env.HOME}\n`);
    },
    async stop() {},
    health: () => ({ state: "ready" }),
    self: () => undefined,
    async send() {
      throw new ChannelError("unsupported", "nothing is sent");
    },
  }),
};

export default definition;
