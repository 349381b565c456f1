import type { SessionInfo } from "@discordjs/ws";
import { type ChannelContext, isPayload, textAt } from "@signalbox/channel";

type SessionContext = Pick<ChannelContext, "state" | "clock">;

/**
 * What a connection has to know to be taken up again: the session, and the last event up to which everything was taken.
 * Kept over restarts.
 */
export interface Session {
  load(): Promise<void>;
  current(): SessionInfo | null;
  /** Discord has begun a session. */
  begin(info: SessionInfo): Promise<void>;
  /** Discord does not know it any more. */
  forget(): Promise<void>;
  /** An event came in: nothing behind it counts as taken before it is. */
  received(sequence: number): void;
  taken(sessionId: string, sequence: number): Promise<void>;
  flush(): Promise<void>;
}

/** A position that is written late costs repetitions, which are told as such. */
const writeEveryMs = 2_000;

/** @param botId another bot under the same account starts afresh */
export function createSession({ state, clock }: SessionContext, botId: string): Session {
  const key = `${botId}/session`;
  let info: SessionInfo | null = null;
  /** Events under way, in the order of their numbers, and the highest number so far. */
  const open = new Set<number>();
  let highest = 0;
  let writtenAt = 0;

  async function write(): Promise<void> {
    writtenAt = clock.now();
    if (info === null) return state.delete(key);
    const { sessionId, resumeURL, sequence } = info;
    await state.set(key, { sessionId, resumeURL, sequence });
  }

  return {
    current: () => info,

    async load() {
      const saved = await state.get(key);
      if (!isPayload(saved)) return;
      const [sessionId, resumeURL] = [textAt(saved, "sessionId"), textAt(saved, "resumeURL")];
      const { sequence } = saved;
      if (sessionId === undefined || resumeURL === undefined || typeof sequence !== "number") return;
      info = { sessionId, resumeURL, sequence, shardId: 0, shardCount: 1 };
      highest = sequence;
    },

    async begin(begun) {
      info = begun;
      highest = begun.sequence;
      open.clear();
      await write();
    },

    async forget() {
      info = null;
      open.clear();
      await write();
    },

    received(sequence) {
      if (sequence <= (info?.sequence ?? 0)) return;
      open.add(sequence);
      highest = Math.max(highest, sequence);
    },

    async taken(sessionId, sequence) {
      if (info?.sessionId !== sessionId) return;
      open.delete(sequence);
      const [oldest] = open;
      const upTo = oldest === undefined ? highest : oldest - 1;
      if (upTo <= info.sequence) return;
      info = { ...info, sequence: upTo };
      if (clock.now() - writtenAt >= writeEveryMs) await write();
    },

    flush: write,
  };
}
