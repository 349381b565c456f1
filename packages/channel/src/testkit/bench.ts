import { strict as assert } from "node:assert";
import type { ChannelDefinition } from "../contract/definition.ts";
import { type ChannelError, isChannelError } from "../contract/errors.ts";
import type { ChannelHarness, Platform } from "./harness.ts";
import { openChannel, type RunningChannel } from "./open-channel.ts";

/** The account that the kit's channels run as. */
export const account = "conformance";

/** A channel against its stand-in. */
export interface Bench<Address> extends RunningChannel<Address> {
  readonly platform: Platform<Address>;
}

/** Brings a channel up against a new stand-in, started unless told otherwise. */
export async function openBench<Config, Address>(
  definition: ChannelDefinition<Config, Address>,
  harness: ChannelHarness<Address>,
  options: { readonly start?: boolean } = {},
): Promise<Bench<Address>> {
  const platform = await harness.open();
  const running = await openChannel(definition, platform.config, {
    ...options,
    context: { account },
    close: () => platform.close(),
  });
  return Object.assign(running, { platform });
}

/** The ChannelError that `work` fails with; anything else fails the test. `what` says what should have failed. */
export async function failing(work: Promise<unknown>, what: string): Promise<ChannelError> {
  let error: unknown;
  try {
    await work;
  } catch (thrown) {
    error = thrown;
  }
  assert.ok(error !== undefined, `${what} should have failed with a ChannelError, and did not fail`);
  assert.ok(isChannelError(error), `${what}: a channel throws ChannelErrors, not ${String(error)}`);
  return error;
}

/** Lets everything happen that waits for nothing but its turn. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
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
