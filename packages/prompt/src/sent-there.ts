import type { MessageEvent } from "@signalbox/channel";
import type { GroupEntry } from "./group-history.ts";

type Place = Pick<MessageEvent, "channel" | "account" | "address">;

/** What such names begin with; those of groups begin with a channel's id. */
const SENT = "sent";

/** Where what an agent said in a conversation from another one is kept: by its address, direct chats too. */
export function sentKey({ channel, account, address }: Place): string {
  return JSON.stringify([SENT, channel, account, address]);
}

/** Whether a name is one of {@link sentKey}. */
export function isSentKey(key: string): boolean {
  return key.startsWith(`["${SENT}",`);
}

/** The run that says it. */
interface Sender {
  readonly agent: { readonly id: string };
  readonly role: string;
}

type SentWords = Readonly<Record<"text" | "name", string>>;

interface SentTherePorts {
  readonly store: {
    revise(key: string, id: string, body: SentWords): Promise<unknown>;
    clear(key: string, id: string): Promise<void>;
  };
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What agents say in a conversation from another one, for the next run there. */
export interface SentThere {
  /** An entry of the history of that conversation. */
  entryOf(
    to: Place,
    said: { readonly id: string; readonly text: string },
    sender: Sender,
  ): GroupEntry & { readonly conversation: string; readonly body: SentWords };
  /** What is kept there says the same as the message does now: nothing, where `text` is absent. */
  change(
    to: Place,
    said: { readonly id: string; readonly text: string | undefined },
    sender: Sender,
  ): Promise<void>;
}

export function createSentThere({ store, now }: SentTherePorts): SentThere {
  return {
    entryOf: (to, { id, text }, sender) => ({
      conversation: sentKey(to),
      id,
      senderId: sender.agent.id,
      body: sentWords(text, sender),
      at: now(),
    }),
    async change(to, { id, text }, sender) {
      if (text === undefined) await store.clear(sentKey(to), id);
      else await store.revise(sentKey(to), id, sentWords(text, sender));
    },
  };
}

/** Guests may read this, so it names only the role of whoever asked. */
function sentWords(text: string, { agent, role }: Sender): SentWords {
  return { text, name: `${agent.id}, asked by somebody whose role is ${role}` };
}
