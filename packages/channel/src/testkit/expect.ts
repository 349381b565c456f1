import { strict as assert } from "node:assert";
import { inspect, isDeepStrictEqual } from "node:util";
import { type ChannelError, type ChannelErrorCode, isChannelError } from "../contract/errors.ts";

/** Maximum length of a value in messages, in characters. Longer values are truncated. */
const MAX_CHARS = 400;

/**
 * Fails unless the condition is true.
 *
 * @param sentence the requirement for the channel, without a final period
 */
export function expectThat(condition: unknown, sentence: string): asserts condition {
  assert.ok(condition, `${sentence}.`);
}

/**
 * Fails unless both values are deeply equal. The message contains both.
 *
 * @param sentence the requirement for the channel, without a final period
 */
export function expectEqual(actual: unknown, expected: unknown, sentence: string): void {
  if (isDeepStrictEqual(actual, expected)) return;
  const message = `${sentence}. Expected ${show(expected)}, but got ${show(actual)}.`;
  throw new assert.AssertionError({ message, actual, expected, operator: "equal" });
}

/** Fails unless the value is one of the expected ones. */
export function expectOneOf<T>(actual: T, expected: readonly T[], sentence: string): void {
  if (expected.includes(actual)) return;
  const message = `${sentence}. Expected ${expected.map(show).join(" or ")}, but got ${show(actual)}.`;
  throw new assert.AssertionError({ message, actual, expected, operator: "oneOf" });
}

/**
 * Fails unless the operation rejects with a ChannelError. Returns the error.
 *
 * @param what the operation, as the subject of a sentence
 * @param codes the codes that the error may have. Default: any.
 */
export async function expectChannelError(
  work: Promise<unknown>,
  what = "The work",
  ...codes: readonly ChannelErrorCode[]
): Promise<ChannelError> {
  let error: unknown;
  try {
    await work;
  } catch (thrown) {
    error = thrown;
  }
  expectThat(error !== undefined, `${what} must fail with a ChannelError, but it succeeded`);
  expectThat(
    isChannelError(error),
    `${what} must fail with a ChannelError, but it failed with ${inspect(error, { depth: 0 })}`,
  );
  if (codes.length > 0)
    expectOneOf(error.code, codes, `${what} failed with the wrong code (${error.message})`);
  return error;
}

function show(value: unknown): string {
  const text = inspect(value, { depth: 6, breakLength: Number.POSITIVE_INFINITY });
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS)}…`;
}
