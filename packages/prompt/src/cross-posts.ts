import type { MessageEvent } from "@signalbox/channel";
import type { GroupEntry } from "./group-history.ts";

type Place = Pick<MessageEvent, "channel" | "account" | "address">;

/** Prefix of these keys. Group keys begin with a channel's id. */
const CROSS_POST = "sent";

/** Returns the storage key of messages that agents post to a conversation from another one. */
export function getCrossPostKey({ channel, account, address }: Place): string {
  return JSON.stringify([CROSS_POST, channel, account, address]);
}

/** Returns true if a key comes from {@link getCrossPostKey}. */
export function isCrossPostKey(key: string): boolean {
  return key.startsWith(`["${CROSS_POST}",`);
}

/** The run that posts the message. */
interface Sender {
  readonly agent: { readonly id: string };
  readonly role: string;
}

type CrossPostBody = Readonly<Record<"text" | "name", string>>;

interface CrossPostOptions {
  readonly store: {
    revise(key: string, id: string, body: CrossPostBody): Promise<unknown>;
    clear(key: string, id: string): Promise<void>;
  };
  /** Returns the time in milliseconds since the epoch. */
  readonly now: () => number;
}

/** Messages that agents post to a conversation from another one, stored for the next run there. */
interface CrossPosts {
  /** Creates an entry for the history of the target conversation. */
  createEntry(
    to: Place,
    message: { readonly id: string; readonly text: string },
    sender: Sender,
  ): GroupEntry & { readonly conversation: string; readonly body: CrossPostBody };
  /** Updates an entry after the message was edited, or removes it if `text` is undefined. */
  update(
    to: Place,
    message: { readonly id: string; readonly text: string | undefined },
    sender: Sender,
  ): Promise<void>;
}

export function createCrossPosts({ store, now }: CrossPostOptions): CrossPosts {
  return {
    createEntry: (to, { id, text }, sender) => ({
      conversation: getCrossPostKey(to),
      id,
      senderId: sender.agent.id,
      body: createBody(text, sender),
      at: now(),
    }),
    async update(to, { id, text }, sender) {
      if (text === undefined) await store.clear(getCrossPostKey(to), id);
      else await store.revise(getCrossPostKey(to), id, createBody(text, sender));
    },
  };
}

/** Guests may read this, so it contains only the role of the person who asked. */
function createBody(text: string, { agent, role }: Sender): CrossPostBody {
  return { text, name: `${agent.id}, asked by somebody whose role is ${role}` };
}
