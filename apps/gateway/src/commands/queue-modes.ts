import type { QueueSettings } from "../path/lanes-types.ts";
import type { GatewayStore } from "../path/stored.ts";

type Mode = QueueSettings["mode"];

/** How messages that come while a turn runs are treated, in sessions that chose for themselves. */
export interface QueueModes {
  get(sessionKey: string): Mode | undefined;
  /** `undefined` goes back to what the configuration says. */
  set(sessionKey: string, mode: Mode | undefined): Promise<void>;
}

export const QUEUE_MODES: readonly Mode[] = ["steer", "followup", "collect", "interrupt"];
const NAMESPACE = "queue-mode";

/** Reads what was chosen before; a lane asks too often to ask the store each time. */
export async function loadQueueModes(store: GatewayStore): Promise<QueueModes> {
  const modes = new Map<string, Mode>();
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
