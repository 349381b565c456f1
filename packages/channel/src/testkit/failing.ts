import { strict as assert } from "node:assert";
import { type ChannelError, isChannelError } from "../contract/errors.ts";

/** What the work fails with; fails the test where it does not, or with anything but a `ChannelError`. */
export async function failing(work: Promise<unknown>): Promise<ChannelError> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return isChannelError(error) ? error : assert.fail(`expected a ChannelError, not ${String(error)}`);
}
