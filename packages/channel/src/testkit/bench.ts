import { strict as assert } from "node:assert";
import { setTimeout as delay } from "node:timers/promises";
import type { TextCapability } from "../contract/capabilities.ts";
import type { ChannelContext, ChannelDefinition } from "../contract/definition.ts";
import { textLength } from "../text.ts";
import type { ChannelHarness, Platform } from "./harness.ts";
import { openChannel, type RunningChannel } from "./open-channel.ts";

/** The account that the kit's channels run as. */
export const account = "conformance";

/** A channel against its stand-in. */
export interface Bench<Address> extends RunningChannel<Address> {
  readonly platform: Platform<Address>;
}

export interface BenchOptions<Address> {
  /** Default true. */
  readonly start?: boolean;
  /** Of what the channel is given. */
  readonly context?: Partial<Pick<ChannelContext, "state" | "commands">>;
  /** Of a bench before, which closes it. Default: a new one. */
  readonly platform?: Platform<Address>;
}

/** Brings a channel up against a stand-in. */
export async function openBench<Config, Address>(
  definition: ChannelDefinition<Config, Address>,
  harness: ChannelHarness<Address>,
  { start = true, context, platform: earlier }: BenchOptions<Address> = {},
): Promise<Bench<Address>> {
  const platform = earlier ?? (await harness.open());
  const running = await openChannel(definition, platform.config, {
    start,
    context: { account, ...context },
    close: async () => {
      if (earlier === undefined) await platform.close();
    },
  });
  return Object.assign(running, { platform });
}

/** Exactly `length` long in the unit, of characters as wide as they come. */
export function exactly(length: number, { unit }: Pick<TextCapability, "unit">): string {
  const wide = "你😀";
  let text = wide.repeat(Math.floor(length / textLength(wide, unit)));
  while (textLength(text, unit) < length) text += "a";
  return text;
}

/** Lets everything run that only waits for its turn in the event loop. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Waits for what comes by itself, for `waitMs` at most. */
export async function eventually(holds: () => boolean, what: string, waitMs: number): Promise<void> {
  for (let waited = 0; waited < waitMs && !holds(); waited += 20) await delay(20);
  assert.ok(holds(), `${what}, and it did not happen within ${waitMs} ms`);
}

/** A signal that never fires. */
export const never: AbortSignal = new AbortController().signal;

/** Fails unless `actual` holds everything that `expected` does; lists have to agree in length. */
export function assertHolds(actual: unknown, expected: unknown, path: string): void {
  if (typeof expected !== "object" || expected === null) {
    assert.equal(actual, expected, path);
    return;
  }
  assert.ok(typeof actual === "object" && actual !== null, `${path} is missing`);
  const found = new Map(Object.entries(actual));
  if (Array.isArray(expected)) assert.equal(found.size, expected.length, `${path}: length`);
  for (const [key, value] of Object.entries(expected)) assertHolds(found.get(key), value, `${path}.${key}`);
}
