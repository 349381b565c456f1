import { type ChannelContext, reasonOf } from "@signalbox/channel";
import { messageId, type SlackAddress } from "./address.ts";
import { getStateKey, type People } from "./people.ts";

/** Threads in which the bot has written. Messages in them count as addressed to the bot. Survives restarts. */
export interface Threads {
  /** Records that the bot has written in a thread. Never rejects, because the message has already been sent. */
  joined(to: SlackAddress): Promise<void>;
  hasJoined(to: SlackAddress): Promise<boolean>;
}

/** Maximum number of stored threads. The oldest are evicted. */
const MAX_THREADS = 1_000;

export function createThreads(
  { state, logger }: Pick<ChannelContext, "state" | "logger">,
  people: Pick<People, "known">,
): Threads {
  let loading: Promise<Set<string>> | undefined;

  /** Oldest first. */
  function joinedThreads(): Promise<Set<string>> {
    loading ??= state.get(getThreadsKey(people)).then(
      (saved) => new Set(Array.isArray(saved) ? saved.map(String) : []),
      (error: unknown) => {
        loading = undefined;
        throw error;
      },
    );
    return loading;
  }

  async function remember(thread: string): Promise<void> {
    const threads = await joinedThreads();
    if (threads.has(thread)) return;
    threads.add(thread);
    for (const oldest of threads) if (threads.size > MAX_THREADS) threads.delete(oldest);
    await state.set(getThreadsKey(people), [...threads]);
  }

  return {
    async joined({ channel, thread }) {
      if (thread === undefined) return;
      await remember(messageId({ channel, ts: thread })).catch((error: unknown) => {
        logger.warn("failed to store a thread", { reason: reasonOf(error) });
      });
    },
    async hasJoined({ channel, thread }) {
      return thread !== undefined && (await joinedThreads()).has(messageId({ channel, ts: thread }));
    },
  };
}

function getThreadsKey(people: Pick<People, "known">): string {
  const self = people.known();
  if (self === undefined) throw new Error("Slack: the bot's identity has not been fetched yet");
  return `${getStateKey(self)}/threads`;
}
