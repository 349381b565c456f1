import { strict as assert } from "node:assert";
import { type ChannelError, isChannelError } from "../contract/errors.ts";

/** The ChannelError that `work` fails with; anything else fails the test. `what` says what should have failed. */
export async function failing(work: Promise<unknown>, what = "the work"): Promise<ChannelError> {
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
