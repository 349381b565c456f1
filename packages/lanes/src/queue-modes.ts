import { QUEUE_MODES, type QueueMode } from "./types.ts";

/** How messages that come while a turn runs are treated, in sessions that chose for themselves. */
export interface QueueModes {
  /** As it was read last: a lane asks too often to ask the store each time. */
  get(sessionKey: string): QueueMode | undefined;
  /** Reads what the session has chosen: before one of its messages enters a lane, since others may have changed it. */
  read(sessionKey: string): Promise<void>;
  /** For a session that exists. `undefined` goes back to what the configuration says. */
  set(sessionKey: string, mode: QueueMode | undefined): Promise<void>;
}

/** Where sessions keep what they chose. */
export interface ChosenModes {
  get(sessionKey: string): Promise<{ readonly queueMode?: string } | undefined>;
  patch(
    sessionKey: string,
    chosen: { readonly queueMode: string | null },
  ): Promise<{ readonly queueMode?: string }>;
}

export function createQueueModes(sessions: ChosenModes): QueueModes {
  const modes = new Map<string, QueueMode>();
  const keep = (sessionKey: string, chosen: string | undefined): void => {
    const mode = QUEUE_MODES.find((each) => each === chosen);
    if (mode === undefined) modes.delete(sessionKey);
    else modes.set(sessionKey, mode);
  };
  return {
    get: (sessionKey) => modes.get(sessionKey),
    async read(sessionKey) {
      keep(sessionKey, (await sessions.get(sessionKey))?.queueMode);
    },
    async set(sessionKey, mode) {
      const { queueMode } = await sessions.patch(sessionKey, { queueMode: mode ?? null });
      keep(sessionKey, queueMode);
    },
  };
}
