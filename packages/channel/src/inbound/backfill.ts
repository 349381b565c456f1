import type { ChannelLogger, ChannelState, Clock } from "../contract/definition.ts";
import { catchRefusal, reasonOf } from "../contract/errors.ts";
import { retryUntilDone } from "../host/retry-until-done.ts";
import { Watermarks } from "./watermarks.ts";
import type { HandleResult } from "./webhook.ts";

export interface BackfillOptions<Message> {
  readonly state: ChannelState;
  readonly clock: Clock;
  /** Logs watermarks that could not be stored and conversations that could not be read yet. */
  readonly logger?: Pick<ChannelLogger, "warn">;
  /** The bot's id on the platform. Another bot under the same account does not use these watermarks. */
  readonly botId: string;
  /** Reads the messages of a conversation since a time in milliseconds since the epoch, oldest first. */
  read(conversation: string, since: number, signal: AbortSignal): Promise<readonly Message[]>;
  /** Emits a message like a live one. The host recognizes duplicates. */
  emit(message: Message): Promise<HandleResult>;
  /** Maximum age of messages to read, in milliseconds. Default: one day. */
  readonly maxAgeMs?: number;
  /**
   * Maximum number of conversations with stored watermarks. The ones with the latest messages are kept. Default: 200.
   */
  readonly maxConversations?: number;
  /** Maximum time that `inOrder` delays a live event, in milliseconds. Default: 10 s. */
  readonly maxDelayMs?: number;
}

/** Reads the messages that arrived while no process was connected. */
export interface Backfill {
  /**
   * Advances the watermark of a conversation after a message was stored. `at` is in milliseconds since the epoch. Never
   * rejects, because without the watermark only more messages are read later.
   */
  note(conversation: string, at: number): Promise<void>;
  /**
   * Announces a call of `catchUp`. Call it before the first live event that may follow missed messages, for instance
   * when a connection opens. Until the gaps are known, `inOrder` delays the events of all conversations.
   */
  expectGaps(): void;
  /**
   * Resolves when a live event of the conversations may be emitted: after their missed messages, which are read
   * immediately, or after `maxDelayMs`. Never rejects.
   */
  inOrder(...conversations: readonly string[]): Promise<void>;
  /**
   * Reads each known conversation from its watermark, but not before `since`. On the first start there are no
   * watermarks, so nothing is read. Failures are retried with increasing delays. Until a conversation has been read,
   * its stored watermark does not advance, even if live messages arrive. Resolves when everything has been read, when
   * `signal` fires, or after `stop`. Never rejects.
   */
  catchUp(options: { readonly signal: AbortSignal; readonly since?: number }): Promise<void>;
  /** Stops reading and stores the watermarks. */
  stop(): Promise<void>;
}

/** Missed messages of a conversation that have not been read yet. */
interface Gap {
  readonly since: number;
  /** Resolves once the messages have been emitted. */
  readonly read: PromiseWithResolvers<void>;
  /** The current attempt. */
  reading?: Promise<void> | undefined;
}

const DAY_MS = 24 * 3_600_000;
/** Covers messages in flight when the connection broke, and clock differences. In milliseconds. */
const OVERLAP_MS = 15_000;
const MAX_DELAY_MS = 10_000;

export function createBackfill<Message>(options: BackfillOptions<Message>): Backfill {
  const { state, clock, logger, botId, maxAgeMs = DAY_MS, maxConversations = 200 } = options;
  const { maxDelayMs = MAX_DELAY_MS } = options;
  const life = new AbortController();
  const gaps = new Map<string, Gap>();
  const watermarks = new Watermarks({
    state,
    clock,
    botId,
    max: maxConversations,
    limit: (conversation, at) => Math.min(at, gaps.get(conversation)?.since ?? at),
  });
  let reading: Promise<void> | undefined;
  /** Set while gaps are expected but not yet known. */
  let expected: PromiseWithResolvers<void> | undefined;

  function gapsAreKnown(): void {
    expected?.resolve();
    expected = undefined;
  }

  async function findGaps(notBefore: number): Promise<void> {
    const earliest = clock.now() - maxAgeMs;
    for (const [conversation, at] of await watermarks.newest()) {
      if (at < earliest) continue;
      const since = Math.max(at, notBefore) - OVERLAP_MS;
      const gap = gaps.get(conversation);
      // The current attempt may already have passed the new messages, so the conversation is read again.
      const next = { since: Math.min(since, gap?.since ?? since), read: Promise.withResolvers<void>() };
      if (gap !== undefined) void next.read.promise.then(gap.read.resolve);
      gaps.set(conversation, next);
    }
    gapsAreKnown();
  }

  /** Reads the missed messages of a conversation. Concurrent calls share one read. */
  function readGap(conversation: string, gap: Gap, signal: AbortSignal): Promise<void> {
    gap.reading ??= readMissed(conversation, gap, signal).finally(() => {
      gap.reading = undefined;
    });
    return gap.reading;
  }

  async function readMissed(conversation: string, gap: Gap, signal: AbortSignal): Promise<void> {
    const since = Math.max(gap.since, clock.now() - maxAgeMs);
    // The bot may have been removed from the conversation.
    const messages = await catchRefusal(options.read(conversation, since, signal), []);
    for (const message of messages)
      if ((await options.emit(message)) === "rejected") throw new Error("the host rejected a message");
    // If the connection has broken again, there is a newer gap.
    if (gaps.get(conversation) !== gap) return;
    gaps.delete(conversation);
    gap.read.resolve();
  }

  async function readGaps(signal: AbortSignal): Promise<void> {
    for (const [conversation, gap] of gaps) {
      if (signal.aborted) return;
      // Move the conversation to the end, so that the others are read first if this one fails.
      gaps.delete(conversation);
      gaps.set(conversation, gap);
      await readGap(conversation, gap, signal);
    }
  }

  function untilRead(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
    return retryUntilDone(work, { clock, logger, signal, failing: "missed messages could not be read yet" });
  }

  async function untilNothingIsMissed(conversations: readonly string[]): Promise<void> {
    await expected?.promise;
    await Promise.all(
      conversations.map(async (conversation) => {
        const gap = gaps.get(conversation);
        if (gap === undefined) return;
        // `catchUp` retries a failed read.
        readGap(conversation, gap, life.signal).catch(() => {});
        await gap.read.promise;
      }),
    );
  }

  return {
    note: (conversation, at) =>
      watermarks.advance(conversation, at).catch((error: unknown) => {
        logger?.warn("failed to store a watermark", { reason: reasonOf(error) });
      }),

    expectGaps() {
      expected ??= Promise.withResolvers<void>();
    },

    async inOrder(...conversations) {
      if (expected === undefined && !conversations.some((each) => gaps.has(each))) return;
      const finished = new AbortController();
      await Promise.race([
        untilNothingIsMissed(conversations),
        clock.delay(maxDelayMs, AbortSignal.any([finished.signal, life.signal])).catch(() => {}),
      ]);
      finished.abort();
    },

    async catchUp({ signal, since = 0 }) {
      const until = AbortSignal.any([signal, life.signal]);
      await untilRead(() => findGaps(since), until);
      // A running pass may already have passed this conversation, or end with its connection.
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
