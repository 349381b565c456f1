import { strict as assert } from "node:assert";
import type { Channel, ChannelContext, ChannelDefinition } from "../contract/definition.ts";
import { type ChannelError, isChannelError } from "../contract/errors.ts";
import type { EmitResult, InboundEvent } from "../contract/events.ts";
import { createMemoryCache, createMemoryState, systemClock } from "../host/memory.ts";
import type { ChannelHarness, Platform } from "./harness.ts";

/** A channel against its stand-in, with what it emitted and logged. */
export interface Bench<Address> extends AsyncDisposable {
  readonly platform: Platform<Address>;
  readonly channel: Channel<Address>;
  readonly events: InboundEvent[];
  /** Log lines and messages of errors. */
  readonly said: string[];
  /** What `emit` answers. By default it knows event ids. */
  onEmit: ((event: InboundEvent) => Promise<EmitResult>) | undefined;
}

/** Brings a channel up against a new stand-in, started unless told otherwise. */
export async function openBench<Config, Address>(
  definition: ChannelDefinition<Config, Address>,
  harness: ChannelHarness<Address>,
  options: { readonly start?: boolean } = {},
): Promise<Bench<Address>> {
  const platform = await harness.open();
  const checked = await definition.config["~standard"].validate(platform.config);
  if (checked.issues !== undefined) {
    assert.fail(
      `the harness's config is refused: ${checked.issues.map((issue) => issue.message).join("; ")}`,
    );
  }
  const lifetime = new AbortController();
  const said: string[] = [];
  const seen = new Set<string>();
  const events: InboundEvent[] = [];
  const log = (message: string, fields?: unknown): void => {
    said.push(`${message} ${JSON.stringify(fields ?? {})}`);
  };
  const context: ChannelContext<Config> = {
    config: checked.value,
    account: "conformance",
    logger: { debug: log, info: log, warn: log, error: log },
    fetch: globalThis.fetch,
    clock: systemClock,
    cache: createMemoryCache({ clock: systemClock }),
    state: createMemoryState(),
    signal: lifetime.signal,
    async emit(event) {
      if (bench.onEmit !== undefined) return bench.onEmit(event);
      if (seen.has(event.eventId)) return "duplicate";
      seen.add(event.eventId);
      events.push(event);
      return "accepted";
    },
  };
  const channel = await definition.create(context);
  if (options.start !== false) await channel.start(lifetime.signal);
  const bench: Bench<Address> = {
    platform,
    channel,
    events,
    said,
    onEmit: undefined,
    async [Symbol.asyncDispose]() {
      await channel.stop({ drainMs: 0 });
      lifetime.abort();
      await platform.close();
    },
  };
  return bench;
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
