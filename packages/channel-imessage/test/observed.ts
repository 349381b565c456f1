import type { ChannelDefinition, Clock, EmitResult } from "@signalbox/channel";
import type { IMessageAddress, IMessageConfig } from "../src/index.ts";
import { limits } from "../src/limits.ts";

type Definition = ChannelDefinition<IMessageConfig, IMessageAddress>;

/** Returns a clock on which polls and searches take no time. */
function createHastyClock(clock: Clock): Clock {
  let ahead = 0;
  return {
    now: () => clock.now() + ahead,
    delay: async (ms, signal) => {
      if (ms === limits.searchEveryMs) ahead += ms;
      await clock.delay(ms === limits.searchEveryMs || ms === limits.pollMs ? 20 : ms, signal);
    },
  };
}

/** The positions that a channel has stored, and the events that the host has rejected. */
export class Progress {
  #stored = -1;
  readonly #rejected = new Set<string>();
  readonly #waiting = new Set<() => void>();

  /** Returns the definition with an observed state and `emit`. */
  observe(definition: Definition): Definition {
    return {
      ...definition,
      create: (context) =>
        definition.create({
          ...context,
          clock: createHastyClock(context.clock),
          state: {
            ...context.state,
            set: async (key, value) => {
              await context.state.set(key, value);
              if (typeof value === "number") this.#stored = value;
              this.#changed();
            },
          },
          emit: async (event) => {
            let result: EmitResult = "rejected";
            try {
              result = await context.emit(event);
            } finally {
              if (result === "rejected") this.#rejected.add(event.eventId);
              this.#changed();
            }
            return result;
          },
        }),
    };
  }

  /**
   * Resolves with true once the position of a row is stored, and with false once the host has rejected its event, or
   * after `ms` milliseconds.
   */
  async isAcknowledged(rowId: number, guid: string, ms: number): Promise<boolean> {
    const deadline = Date.now() + ms;
    for (;;) {
      if (this.#rejected.delete(guid)) return false;
      if (this.#stored >= rowId) return true;
      const left = deadline - Date.now();
      if (left <= 0) return false;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(left, 100));
        this.#waiting.add(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  #changed(): void {
    for (const resume of this.#waiting) resume();
    this.#waiting.clear();
  }
}
