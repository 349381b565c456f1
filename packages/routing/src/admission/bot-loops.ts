/** Length of the sliding window, in milliseconds. */
const WINDOW_MS = 60_000;
/** Maximum number of answered bot messages per conversation and window. */
const MAX_MESSAGES = 20;
/** Duration of the pause after the limit is exceeded, in milliseconds. */
const PAUSE_MS = 5 * 60_000;
/** Maximum number of tracked conversations. The one that has been silent the longest is evicted first. */
const MAX_CONVERSATIONS = 1_000;

/** A rate limit for messages from bots. */
export interface BotLoops {
  /** Counts a bot's message in a conversation. Returns false if it must not be answered. */
  admits(conversation: string): boolean;
}

/**
 * Stops bots that answer each other endlessly. After more than 20 messages of bots in a minute, no bot in that
 * conversation is answered for five minutes.
 *
 * @param now returns the time in milliseconds
 * @example
 * ```ts
 * const loops = createBotLoops(Date.now);
 * if (message.senderIsBot && !loops.admits(message.conversationId)) return;
 * ```
 */
export function createBotLoops(now: () => number): BotLoops {
  const conversations = new Map<string, { times: readonly number[]; pausedUntil: number }>();
  return {
    admits(conversation) {
      const at = now();
      const { times, pausedUntil } = conversations.get(conversation) ?? { times: [], pausedUntil: 0 };
      const recent = [...times.filter((time) => time > at - WINDOW_MS), at].slice(-(MAX_MESSAGES + 1));
      const paused = at < pausedUntil;
      const loops = !paused && recent.length > MAX_MESSAGES;
      conversations.delete(conversation);
      conversations.set(conversation, { times: recent, pausedUntil: loops ? at + PAUSE_MS : pausedUntil });
      const [silentLongest] = conversations.keys();
      if (conversations.size > MAX_CONVERSATIONS && silentLongest !== undefined)
        conversations.delete(silentLongest);
      return !paused && !loops;
    },
  };
}
