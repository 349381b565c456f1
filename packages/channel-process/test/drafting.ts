/** A channel with drafts. It records the commands that it is given and the messages that drafts are finished with. */
import type { ChannelCommand, ChannelDefinition, Draft } from "@signalbox/channel";
import { silentChannel } from "./silent-channel.ts";

export const receivedCommands: (readonly ChannelCommand[] | undefined)[] = [];
export const finalized: string[] = [];

const silent = silentChannel("drafting", async ({ commands }) => void receivedCommands.push(commands));

const draft: Draft = {
  messageId: undefined,
  async update() {},
  async finalize(message) {
    finalized.push(JSON.stringify(message));
    return { parts: [] };
  },
  async abort() {},
};

const drafting: ChannelDefinition = {
  ...silent,
  create: async (context) => ({ ...(await silent.create(context)), openDraft: async () => draft }),
};
export default drafting;
