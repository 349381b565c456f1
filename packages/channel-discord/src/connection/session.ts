import type { SessionInfo } from "@discordjs/ws";
import { type ChannelContext, isPayload, textAt } from "@signalbox/channel";

type SessionContext = Pick<ChannelContext, "state" | "clock">;

/** The state for resuming: the session, and the sequence up to which all events were accepted. Survives restarts. */
export interface Session {
  load(): Promise<void>;
  current(): SessionInfo | null;
  /** Stores a new session. */
  begin(info: SessionInfo): Promise<void>;
  /** Deletes a session that Discord no longer recognizes. */
  forget(): Promise<void>;
  /** Registers a received event. The sequence does not advance beyond it until it is accepted. */
  received(sequence: number): void;
  taken(sessionId: string, sequence: number): Promise<void>;
  flush(): Promise<void>;
}

/**
 * Minimum interval between writes in milliseconds. A sequence that is stored late only causes redeliveries, which are
 * deduplicated.
 */
const writeEveryMs = 2_000;

/** @param botId part of the storage key, so that a new bot under the same account starts without a session */
export function createSession({ state, clock }: SessionContext, botId: string): Session {
  const key = `${botId}/session`;
  let info: SessionInfo | null = null;
  /** Sequences of events in progress, in order, and the highest sequence received. */
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
