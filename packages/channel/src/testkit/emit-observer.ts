import { setTimeout as delay } from "node:timers/promises";
import type { ChannelDefinition } from "../contract/definition.ts";
import type { Platform } from "./harness.ts";

/** The original platforms of those that `acknowledge` has returned. */
const originals = new WeakMap<object, unknown>();

/** Milliseconds after which a delivered message will certainly not cause any event. */
const QUIET_MS = 500;

/**
 * Observes `emit` of a channel with the intake `handed_over`. Its platform receives no acknowledgements, so the suite
 * treats a message as acknowledged once `emit` has accepted it.
 */
export class EmitObserver {
  #begun = 0;
  #ended = 0;
  #accepted = 0;

  observe<Config, Address>(
    definition: ChannelDefinition<Config, Address>,
  ): ChannelDefinition<Config, Address> {
    return {
      ...definition,
      create: (context) =>
        definition.create({
          ...context,
          emit: async (event) => {
            this.#begun += 1;
            try {
              const result = await context.emit(event);
              if (result !== "rejected") this.#accepted += 1;
              return result;
            } finally {
              this.#ended += 1;
            }
          },
        }),
    };
  }

  /** @param given the platform, or the wrapper of another observer */
  acknowledge<Address>(given: Platform<Address>): Platform<Address> {
    const platform = (originals.get(given) ?? given) as Platform<Address>;
    const observed: Platform<Address> = {
      ...platform,
      deliver: async (channel, delivery) => {
        const accepted = this.#accepted;
        const isConnected = await this.#settled(() => platform.deliver(channel, delivery));
        return isConnected && this.#accepted > accepted;
      },
      ...(platform.deliverRecorded && {
        deliverRecorded: async (channel, payload) =>
          this.#settled(async () => (await platform.deliverRecorded?.(channel, payload)) ?? false),
      }),
    };
    originals.set(observed, platform);
    return observed;
  }

  /** Returns the result of a delivery once the resulting events have been emitted. */
  async #settled(deliver: () => Promise<boolean>): Promise<boolean> {
    const begun = this.#begun;
    const result = await deliver();
    for (let waited = 0; waited < QUIET_MS && this.#begun === begun; waited += 10) await delay(10);
    do await delay(10);
    while (this.#ended < this.#begun);
    return result;
  }
}
