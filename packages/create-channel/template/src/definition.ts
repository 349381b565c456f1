import { type ChannelDefinition, defineChannel } from "@signalbox/channel";
import { type Address, addressCodec } from "./address.ts";
import { createChannel } from "./channel.ts";
import { type Config, config } from "./config.ts";

/** Describes the channel before any account runs. Import the platform's SDK in `create`, never here. */
export const channel: ChannelDefinition<Config, Address> = defineChannel({
  specVersion: 1,
  id: "__ID__",
  meta: {
    label: "__LABEL__",
    description: "A bot on __LABEL__.",
    fields: {
      apiUrl: { label: "API address", hint: "For instance https://chat.example/api" },
      token: { label: "Token", secret: true, hint: "From the settings of the bot" },
      signingSecret: { label: "Signing secret", secret: true, hint: "From the same page" },
    },
  },
  config,
  capabilities: {
    text: { max: 2_000, unit: "codepoints", markup: "plain" },
    edit: { ownOnly: true },
    remove: true,
    stream: "draft",
    threads: "reply",
    delivery: { idempotencyKey: { windowMs: 3_600_000 } },
    rate: [{ scope: "conversation", perSecond: 5, burst: 5 }],
    intake: "acknowledged",
    transports: ["webhook"],
  },
  codec: addressCodec,
  create: async (context) => createChannel(context),
});
