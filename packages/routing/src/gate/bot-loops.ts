/** Milliseconds that are looked back on. */
const WINDOW_MS = 60_000;
/** Messages of bots in one conversation that are answered within them. */
const MOST = 20;
/** Milliseconds in which no bot is answered there once there were more. */
const PAUSE_MS = 5 * 60_000;
/** Conversations that are watched; those whose bots have been silent longest are forgotten first. */
const MOST_CONVERSATIONS = 1_000;

export interface BotLoops {
  /** Counts a message of a bot in this conversation; false where it must not be answered. */
  admits(conversation: string): boolean;
}

/**
 * Ends conversations of bots that answer each other. Which of them began does not matter, nor how many take part: more
 * than 20 of their messages in a minute, and the conversation has five minutes without an answer to any.
 */
export function createBotLoops(now: () => number): BotLoops {
  const conversations = new Map<string, { times: readonly number[]; pausedUntil: number }>();
  return {
    admits(conversation) {
      const at = now();
      const { times, pausedUntil } = conversations.get(conversation) ?? { times: [], pausedUntil: 0 };
      const recent = [...times.filter((time) => time > at - WINDOW_MS), at].slice(-(MOST + 1));
      const paused = at < pausedUntil;
      const loops = !paused && recent.length > MOST;
      conversations.delete(conversation);
      conversations.set(conversation, { times: recent, pausedUntil: loops ? at + PAUSE_MS : pausedUntil });
      const [silentLongest] = conversations.keys();
      if (conversations.size > MOST_CONVERSATIONS && silentLongest !== undefined)
        conversations.delete(silentLongest);
      return !paused && !loops;
    },
  };
}
