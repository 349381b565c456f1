import type { ChannelContext, ChannelLogger } from "../contract/definition.ts";
import type { Json } from "../contract/json.ts";
import { limitEntries, MAX_CHARS, shortened } from "./log-limits.ts";

/** An entry that a process would have in its host's log. */
interface Entry {
  readonly level: keyof ChannelLogger;
  readonly message: string;
  readonly fields?: Readonly<Record<string, Json>>;
}

/** Logs what the processes of an account ask to have logged, within the bounds of what they print. */
export function createEntryLog({
  logger,
  clock,
}: Pick<ChannelContext, "logger" | "clock">): (entry: Entry) => void {
  const limited = (level: Entry["level"]) =>
    limitEntries(clock, () =>
      logger.warn("the account's process logs too much; the rest of this minute is left out", {
        level,
      }),
    );
  // Each by itself: what explains a process at length does not keep its errors out.
  const limits = {
    debug: limited("debug"),
    info: limited("info"),
    warn: limited("warn"),
    error: limited("error"),
  };
  return ({ level, message, fields }) =>
    limits[level](() => logger[level](shortened(message), fields && withinRoom(fields)));
}

function withinRoom(fields: Readonly<Record<string, Json>>): Readonly<Record<string, Json>> {
  const text = JSON.stringify(fields);
  return text.length <= MAX_CHARS ? fields : { fields: shortened(text) };
}
