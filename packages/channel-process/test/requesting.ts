/** A channel that sends each message as a request to the URL of its configuration. */
import { type ChannelDefinition, ChannelError, failedToConnect } from "@signalbox/channel";
import { silentChannel } from "./silent-channel.ts";

const silent = silentChannel("requesting", async () => {});

const requesting: ChannelDefinition = {
  ...silent,
  create: async (context) => ({
    ...(await silent.create(context)),
    async send() {
      try {
        const response = await context.fetch(String(context.config), { method: "POST" });
        return { parts: [{ index: 0, messageId: `${await response.text()} ${context.isShared}` }] };
      } catch (error) {
        throw new ChannelError(failedToConnect(error) ? "transient" : "unknown_outcome", "failed", {
          cause: error,
        });
      }
    },
  }),
};
export default requesting;
