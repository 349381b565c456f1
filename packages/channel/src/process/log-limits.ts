import type { Clock } from "../contract/definition.ts";

/** The longest entry, in characters. */
export const MAX_CHARS = 4_000;
/** Of one process, and of one kind: what it says without end must not push everything else out of the log. */
const ENTRIES_A_MINUTE = 60;
const MINUTE_MS = 60_000;

/**
 * Lets as many entries through as a minute may have.
 * @param onExcess told once in each minute that has more
 */
export function limitEntries(clock: Pick<Clock, "now">, onExcess: () => void): (log: () => void) => void {
  let minute = 0;
  let entries = 0;
  return (log) => {
    const now = Math.floor(clock.now() / MINUTE_MS);
    if (now !== minute) entries = 0;
    minute = now;
    entries += 1;
    if (entries <= ENTRIES_A_MINUTE) log();
    else if (entries === ENTRIES_A_MINUTE + 1) onExcess();
  };
}

/** It ends between two words: half a secret is not known as one. */
export function shortened(text: string): string {
  if (text.length <= MAX_CHARS) return text;
  const words = text.slice(0, MAX_CHARS).replace(/\S*$/, "");
  return `${words}[the rest is left out]`;
}
