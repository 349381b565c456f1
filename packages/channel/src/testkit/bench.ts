import { setTimeout as delay } from "node:timers/promises";
import type { TextCapability } from "../contract/capabilities.ts";
import type { ChannelContext, ChannelDefinition } from "../contract/definition.ts";
import { deadline } from "../host/deadline.ts";
import { rejectOnAbort } from "../host/reject-on-abort.ts";
import { textLength } from "../text.ts";
import { EmitObserver } from "./emit-observer.ts";
import { expectEqual, expectThat } from "./expect.ts";
import type { ChannelHarness, Platform } from "./harness.ts";
import { openChannel, type RunningChannel } from "./open-channel.ts";

/** The name of the account under test. */
export const account = "conformance";

/** An account connected to a fake platform. */
export interface Bench<Address> extends RunningChannel<Address> {
  readonly platform: Platform<Address>;
}

export interface BenchOptions<Address> {
  /** Whether to start the account. Default: true. */
  readonly start?: boolean;
  readonly context?: Partial<Pick<ChannelContext, "state" | "commands">>;
  /** The platform of another bench, which is responsible for closing it. Default: a new one. */
  readonly platform?: Platform<Address>;
}

/** Starts an account against a fake platform. */
export async function openBench<Config, Address>(
  definition: ChannelDefinition<Config, Address>,
  harness: ChannelHarness<Address>,
  { start = true, context, platform: earlier }: BenchOptions<Address> = {},
): Promise<Bench<Address>> {
  const platform = earlier ?? (await harness.open());
  const emits = definition.capabilities.intake === "handed_over" ? new EmitObserver() : undefined;
  const running = await openChannel(emits?.observe(definition) ?? definition, platform.config, {
    start,
    context: { account, ...context },
    close: async () => {
      if (earlier === undefined) await platform.close();
    },
  });
  return Object.assign(running, { platform: emits?.acknowledge(platform) ?? platform });
}

/** Creates a text of exactly `length` in the given unit, including wide characters. */
export function exactly(length: number, { unit }: Pick<TextCapability, "unit">): string {
  const wide = "你😀";
  let text = wide.repeat(Math.floor(length / textLength(wide, unit)));
  while (textLength(text, unit) < length) text += "a";
  return text;
}

/** Lets pending event-loop callbacks run. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * Fails if the operation takes longer than `waitMs`. `what` describes the operation, which must fail, as the subject of
 * a sentence.
 */
export async function within<T>(waitMs: number, work: Promise<T>, what: string): Promise<T> {
  const limit = deadline(waitMs);
  try {
    return await rejectOnAbort(
      work,
      limit.signal,
      () => new Error(`${what} must fail, but nothing happened within ${waitMs} ms.`),
    );
  } finally {
    limit.end();
  }
}

/** Waits until the condition is true, and fails after `waitMs`. */
export async function eventually(holds: () => boolean, sentence: string, waitMs: number): Promise<void> {
  for (let waited = 0; waited < waitMs && !holds(); waited += 20) await delay(20);
  expectThat(holds(), `${sentence}, but this did not happen within ${waitMs} ms`);
}

/** A signal that never fires. */
export const never: AbortSignal = new AbortController().signal;

/** Fails unless `actual` contains everything in `expected`. Arrays must have the same length. */
export function expectContains(actual: unknown, expected: unknown, path: string): void {
  if (typeof expected !== "object" || expected === null) {
    expectEqual(actual, expected, `${path} is wrong`);
    return;
  }
  expectThat(typeof actual === "object" && actual !== null, `${path} is missing`);
  const found = new Map(Object.entries(actual));
  if (Array.isArray(expected))
    expectEqual(found.size, expected.length, `${path} has the wrong number of elements`);
  for (const [key, value] of Object.entries(expected))
    expectContains(found.get(key), value, `${path}.${key}`);
}
