/** The package of a channel that notes the commands it is given, and what becomes of its drafts. */
import type { ChannelCommand, ChannelDefinition, Draft } from "../src/index.ts";
import { silentChannel } from "./silent-channel.ts";

export const given: (readonly ChannelCommand[] | undefined)[] = [];
export const finalized: string[] = [];

const silent = silentChannel("drafting", async ({ commands }) => void given.push(commands));

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
