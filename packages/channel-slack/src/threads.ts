import { type ChannelContext, reasonOf } from "@signalbox/channel";
import { messageId, type SlackAddress } from "./address.ts";
import { ownerOf, type People } from "./people.ts";

/** The threads that the bot has spoken in, over restarts: what people say there is said to it. */
export interface Threads {
  /** The bot has spoken there. Never rejects: what it said is out. */
  joined(to: SlackAddress): Promise<void>;
  hasJoined(to: SlackAddress): Promise<boolean>;
}

/** The latest that are remembered. */
const most = 1_000;

export function createThreads(
  { state, logger }: Pick<ChannelContext, "state" | "logger">,
  people: Pick<People, "known">,
): Threads {
  let loading: Promise<Set<string>> | undefined;

  /** In the order in which they were joined. */
  function joinedThreads(): Promise<Set<string>> {
    loading ??= state.get(keyOf(people)).then(
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
    for (const oldest of threads) if (threads.size > most) threads.delete(oldest);
    await state.set(keyOf(people), [...threads]);
  }

  return {
    async joined({ channel, thread }) {
      if (thread === undefined) return;
      await remember(messageId({ channel, ts: thread })).catch((error: unknown) => {
        logger.warn("a thread could not be remembered", { reason: reasonOf(error) });
      });
    },
    async hasJoined({ channel, thread }) {
      return thread !== undefined && (await joinedThreads()).has(messageId({ channel, ts: thread }));
    },
  };
}

function keyOf(people: Pick<People, "known">): string {
  const self = people.known();
  if (self === undefined) throw new Error("Slack was not asked yet who the bot is");
  return `${ownerOf(self)}/threads`;
}
