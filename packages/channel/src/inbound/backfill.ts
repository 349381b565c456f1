import type { ChannelLogger, ChannelState, Clock } from "../contract/definition.ts";
import { reasonOf, unlessRefused } from "../contract/errors.ts";
import type { Json } from "../contract/json.ts";
import { isPayload, objectAt, type Payload } from "./payload.ts";

export interface BackfillOptions<Message> {
  readonly state: ChannelState;
  readonly clock: Clock;
  /** Told where a watermark could not be kept. */
  readonly logger?: Pick<ChannelLogger, "warn">;
  /** The bot's own id on the platform: another bot under the same account starts afresh. */
  readonly botId: string;
  /** The messages of one conversation since a moment, oldest first, at most as many as one request gives. */
  read(conversation: string, since: number, signal: AbortSignal): Promise<readonly Message[]>;
  /** Hands a message to the same gate as a live one; repetitions are told there. */
  take(message: Message): Promise<unknown>;
  /** Nothing older is read, in milliseconds. Default one day. */
  readonly mostAgeMs?: number;
  /** The conversations that are remembered, those with the latest messages. Default 200. */
  readonly mostConversations?: number;
}

/** Reads what was said while nobody listened. */
export interface Backfill {
  /**
   * A message came in, live or read: its conversation's watermark moves up. `at` in milliseconds since the epoch. Never
   * rejects: the message is durable already, and without its watermark a later look back goes further.
   */
  note(conversation: string, at: number): Promise<void>;
  /**
   * Reads each known conversation from its watermark on, at the earliest from `since`. On a first start nothing is
   * known, so that nothing is read.
   */
  catchUp(options: { readonly signal: AbortSignal; readonly since?: number }): Promise<void>;
  /** Writes the watermarks down. */
  flush(): Promise<void>;
}

const dayMs = 24 * 3_600_000;
/** What was on its way when the connection broke, and clocks that differ. */
const overlapMs = 15_000;
/** A watermark that is written late costs a longer look back, not a message. */
const writeEveryMs = 10_000;

export function createBackfill<Message>(options: BackfillOptions<Message>): Backfill {
  const { state, clock, logger, botId, mostAgeMs = dayMs, mostConversations = 200 } = options;
  const key = `${botId}/watermarks`;
  let loading: Promise<Map<string, number>> | undefined;
  let writtenAt = 0;

  function load(): Promise<Map<string, number>> {
    loading ??= state.get(key).then(
      (saved) => readWatermarks(isPayload(saved) ? saved : {}),
      (error: unknown) => {
        loading = undefined;
        throw error;
      },
    );
    return loading;
  }

  async function write(watermarks: Map<string, number>): Promise<void> {
    writtenAt = clock.now();
    const newest = [...watermarks].sort((a, b) => b[1] - a[1]).slice(0, mostConversations);
    const value: Json = Object.fromEntries(newest);
    await state.set(key, { conversations: value });
  }

  async function moveUp(conversation: string, at: number): Promise<void> {
    const watermarks = await load();
    const before = watermarks.get(conversation);
    if (before !== undefined && before >= at) return;
    watermarks.set(conversation, Math.min(at, clock.now()));
    if (before === undefined || clock.now() - writtenAt >= writeEveryMs) await write(watermarks);
  }

  return {
    note: (conversation, at) =>
      moveUp(conversation, at).catch((error: unknown) => {
        logger?.warn("a watermark could not be kept", { reason: reasonOf(error) });
      }),

    async catchUp({ signal, since = 0 }) {
      const earliest = clock.now() - mostAgeMs;
      const watermarks = [...(await load())].filter(([, at]) => at >= earliest);
      for (const [conversation, at] of watermarks.sort((a, b) => b[1] - a[1]).slice(0, mostConversations)) {
        signal.throwIfAborted();
        const from = Math.max(at - overlapMs, since - overlapMs, earliest);
        // One that the bot was taken out of keeps nobody from the others.
        const messages = await unlessRefused(options.read(conversation, from, signal), []);
        for (const message of messages) await options.take(message);
      }
    },

    async flush() {
      if (loading !== undefined) await write(await loading);
    },
  };
}

function readWatermarks(saved: Payload): Map<string, number> {
  return new Map(
    Object.entries(objectAt(saved, "conversations")).flatMap(([conversation, at]): [string, number][] =>
      typeof at === "number" ? [[conversation, at]] : [],
    ),
  );
}
