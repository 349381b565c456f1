import { QUEUE_MODES, type QueueMode } from "@signalbox/lanes";
import type { GatewayStore } from "../../store.ts";

/** How messages that come while a turn runs are treated, in sessions that chose for themselves. */
export interface QueueModes {
  get(sessionKey: string): QueueMode | undefined;
  /** `undefined` goes back to what the configuration says. */
  set(sessionKey: string, mode: QueueMode | undefined): Promise<void>;
}

const NAMESPACE = "queue-mode";

/** Reads what was chosen before; a lane asks too often to ask the store each time. */
export async function loadQueueModes(store: GatewayStore): Promise<QueueModes> {
  const modes = new Map<string, QueueMode>();
  for (const { key, value } of await store.kv.list(NAMESPACE)) {
    const mode = QUEUE_MODES.find((one) => one === value);
    if (mode !== undefined) modes.set(key, mode);
  }
  return {
    get: (sessionKey) => modes.get(sessionKey),
    async set(sessionKey, mode) {
      if (mode === undefined) {
        await store.kv.delete(NAMESPACE, sessionKey);
        modes.delete(sessionKey);
      } else {
        await store.kv.set(NAMESPACE, sessionKey, mode);
        modes.set(sessionKey, mode);
      }
    },
  };
}
