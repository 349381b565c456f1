import { limits } from "../limits.ts";

/** A part that is being sent, or whose outcome is unknown. */
interface Attempt {
  readonly chatId: string;
  /** The highest known id before the attempt. */
  readonly after: number;
}

/**
 * The known message ids, used to look for a message whose receipt was lost. Telegram assigns ascending ids: separately
 * for each supergroup and channel, and together for all private chats and basic groups of a bot.
 */
export interface MessageIds {
  /** Records a message that was received, or that was sent with a receipt. */
  add(chatId: string, messageId: number): void;
  /** Records an attempt to send a part. `key` identifies the part. */
  begin(key: string, chatId: string): void;
  /** Records that the outcome of the part is known. */
  end(key: string): void;
  /** Returns true if another part is being sent to the chat, or has an unknown outcome there. */
  hasOthers(key: string, chatId: string): boolean;
  /** Runs a lookup in a chat. Messages to the chat are not sent until it ends. */
  lookUp<T>(chatId: string, work: () => Promise<T>): Promise<T>;
  /** Resolves once no lookup is running in the chat. */
  ready(chatId: string): Promise<void>;
  /** Returns the highest known id that is lower than the id of the part, or `undefined` if there is none. */
  floorOf(key: string): number | undefined;
  /** Returns true if a message with this id was received, or was sent with a receipt. */
  isKnown(chatId: string, messageId: number): boolean;
  /**
   * Returns the highest id that the part can have: the latest known one, plus a margin for messages with an unknown
   * outcome and updates that have not arrived yet.
   */
  ceilingOf(chatId: string): number;
}

export function createMessageIds(): MessageIds {
  const latest = new Map<string, number>();
  /** The latest known ids as `chat:id`. */
  const known = new Set<string>();
  const attempts = new Map<string, Attempt>();
  const lookups = new Map<string, Promise<unknown>>();

  return {
    add(chatId, messageId) {
      const scope = scopeOf(chatId);
      latest.set(scope, Math.max(messageId, latest.get(scope) ?? 0));
      known.add(`${chatId}:${messageId}`);
      if (known.size > limits.rememberedIds) dropOldest(known);
    },
    begin(key, chatId) {
      const after = latest.get(scopeOf(chatId));
      // A repeated attempt may follow one that has created the message.
      if (after === undefined || attempts.has(key)) return;
      attempts.set(key, { chatId, after });
      if (attempts.size > limits.rememberedIds) dropOldest(attempts);
    },
    end: (key) => void attempts.delete(key),
    hasOthers: (key, chatId) =>
      [...attempts].some(([other, attempt]) => other !== key && attempt.chatId === chatId),
    async lookUp(chatId, work) {
      const before = this.ready(chatId);
      const lookup = before.then(work);
      const ended = lookup.then(
        () => {},
        () => {},
      );
      lookups.set(chatId, ended);
      try {
        return await lookup;
      } finally {
        if (lookups.get(chatId) === ended) lookups.delete(chatId);
      }
    },
    async ready(chatId) {
      await lookups.get(chatId);
    },
    floorOf: (key) => attempts.get(key)?.after,
    isKnown: (chatId, messageId) => known.has(`${chatId}:${messageId}`),
    ceilingOf(chatId) {
      const scope = scopeOf(chatId);
      const open = [...attempts.values()].filter((attempt) => scopeOf(attempt.chatId) === scope).length;
      return (latest.get(scope) ?? 0) + open + limits.unseenIds;
    },
  };
}

/** Ids of supergroups and channels start with -100. */
function scopeOf(chatId: string): string {
  return chatId.startsWith("-100") ? chatId : "private";
}

function dropOldest(entries: Pick<Set<string>, "delete"> & { keys(): Iterable<string> }): void {
  for (const key of entries.keys()) {
    entries.delete(key);
    return;
  }
}
