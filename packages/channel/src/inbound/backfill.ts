import type { ChannelLogger, ChannelState, Clock } from "../contract/definition.ts";
import { reasonOf, unlessRefused } from "../contract/errors.ts";
import { untilDone } from "../host/until-done.ts";
import { Watermarks } from "./watermarks.ts";
import type { Handled } from "./webhook.ts";

export interface BackfillOptions<Message> {
  readonly state: ChannelState;
  readonly clock: Clock;
  /** Logs a watermark that could not be stored, or a conversation that could not be read yet. */
  readonly logger?: Pick<ChannelLogger, "warn">;
  /** The bot's own id on the platform: another bot under the same account starts afresh. */
  readonly botId: string;
  /** The messages of one conversation since a moment, oldest first, as many of them as are to be heard. */
  read(conversation: string, since: number, signal: AbortSignal): Promise<readonly Message[]>;
  /** Hands a message to the same gate as a live one; repetitions are recognised there. */
  take(message: Message): Promise<Handled>;
  /** Nothing older is read, in milliseconds. Default one day. */
  readonly mostAgeMs?: number;
  /** The conversations that are remembered, those with the latest messages. Default 200. */
  readonly mostConversations?: number;
}

/** Reads what was said while no process listened. */
export interface Backfill {
  /**
   * A message came in, live or read: its conversation's watermark moves up. `at` in milliseconds since the epoch. Never
   * rejects: the message is durable already, and without its watermark a later look back goes further.
   */
  note(conversation: string, at: number): Promise<void>;
  /**
   * Reads each known conversation from its watermark on, at the earliest from `since`. On a first start nothing is
   * known, so that nothing is read. What cannot be read or is not taken now is tried again, ever later; until then the
   * watermark that is written stays before it, whatever comes in live. Resolves, and never rejects, once everything is
   * read, or when `signal` fires or `stop` is called.
   */
  catchUp(options: { readonly signal: AbortSignal; readonly since?: number }): Promise<void>;
  /** Reads no more, and writes the watermarks down. */
  stop(): Promise<void>;
}

/** What has to be read yet of a conversation. */
interface Gap {
  readonly since: number;
}

const dayMs = 24 * 3_600_000;
/** What was on its way when the connection broke, and clocks that differ. */
const overlapMs = 15_000;

export function createBackfill<Message>(options: BackfillOptions<Message>): Backfill {
  const { state, clock, logger, botId, mostAgeMs = dayMs, mostConversations = 200 } = options;
  const life = new AbortController();
  const gaps = new Map<string, Gap>();
  const watermarks = new Watermarks({
    state,
    clock,
    botId,
    most: mostConversations,
    readUpTo: (conversation, at) => Math.min(at, gaps.get(conversation)?.since ?? at),
  });
  let reading: Promise<void> | undefined;

  async function findGaps(notBefore: number): Promise<void> {
    const earliest = clock.now() - mostAgeMs;
    for (const [conversation, at] of await watermarks.newest()) {
      if (at < earliest) continue;
      const since = Math.max(at, notBefore) - overlapMs;
      gaps.set(conversation, { since: Math.min(since, gaps.get(conversation)?.since ?? since) });
    }
  }

  async function readGap(conversation: string, gap: Gap, signal: AbortSignal): Promise<void> {
    const since = Math.max(gap.since, clock.now() - mostAgeMs);
    // One that the bot was taken out of keeps nobody from the others.
    const messages = await unlessRefused(options.read(conversation, since, signal), []);
    for (const message of messages)
      if ((await options.take(message)) === "rejected") throw new Error("a message was not taken");
    // Where the connection broke again meanwhile, there is another.
    if (gaps.get(conversation) === gap) gaps.delete(conversation);
  }

  async function readGaps(signal: AbortSignal): Promise<void> {
    for (const [conversation, gap] of gaps) {
      if (signal.aborted) return;
      // Should it fail, the others have their turn before it is tried again.
      gaps.delete(conversation);
      gaps.set(conversation, gap);
      await readGap(conversation, gap, signal);
    }
  }

  function untilRead(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
    return untilDone(work, { clock, logger, signal, failing: "what was missed could not be read yet" });
  }

  return {
    note: (conversation, at) =>
      watermarks.moveUp(conversation, at).catch((error: unknown) => {
        logger?.warn("a watermark could not be kept", { reason: reasonOf(error) });
      }),

    async catchUp({ signal, since = 0 }) {
      const until = AbortSignal.any([signal, life.signal]);
      await untilRead(() => findGaps(since), until);
      // A reading that goes on may have passed a gap before it was found, or end with the connection that it began for.
      while (gaps.size > 0 && !until.aborted) {
        reading ??= untilRead(() => readGaps(until), until).finally(() => {
          reading = undefined;
        });
        await reading;
      }
    },

    async stop() {
      life.abort();
      await watermarks.flush();
    },
  };
}
