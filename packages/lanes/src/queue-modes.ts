import { QUEUE_MODES, type QueueMode } from "./types.ts";

/** The queue modes that sessions have chosen. Cached, because lanes need them synchronously. */
export interface QueueModes {
  /** Returns the most recently read mode. */
  get(sessionKey: string): QueueMode | undefined;
  /**
   * Reads the mode from the store. Call it before an item of the session is enqueued, because another process may have
   * changed the mode.
   */
  read(sessionKey: string): Promise<void>;
  /** Sets the mode of an existing session. `undefined` restores the default. */
  set(sessionKey: string, mode: QueueMode | undefined): Promise<void>;
}

/** Storage for the modes. */
export interface QueueModeStore {
  get(sessionKey: string): Promise<{ readonly queueMode?: string } | undefined>;
  patch(
    sessionKey: string,
    chosen: { readonly queueMode: string | null },
  ): Promise<{ readonly queueMode?: string }>;
}

export function createQueueModes(sessions: QueueModeStore): QueueModes {
  const modes = new Map<string, QueueMode>();
  const cache = (sessionKey: string, chosen: string | undefined): void => {
    const mode = QUEUE_MODES.find((each) => each === chosen);
    if (mode === undefined) modes.delete(sessionKey);
    else modes.set(sessionKey, mode);
  };
  return {
    get: (sessionKey) => modes.get(sessionKey),
    async read(sessionKey) {
      cache(sessionKey, (await sessions.get(sessionKey))?.queueMode);
    },
    async set(sessionKey, mode) {
      const { queueMode } = await sessions.patch(sessionKey, { queueMode: mode ?? null });
      cache(sessionKey, queueMode);
    },
  };
}
