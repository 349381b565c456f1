import type { Key } from "../access.ts";
import type { Census } from "./census.ts";
import type { TermIndex } from "./terms.ts";

/** Whether a term, which so many chunks have, says which of them is meant. */
export type IsTelling = (term: string, frequency: number) => boolean;

/**
 * Tells terms that are common among the chunks that a key opens, so that small talk looks for nothing. What others have
 * said makes no term common.
 */
export type TellingTo = (key: Key) => IsTelling;

/** How many of the chunks that a key opens had a term, and how many it opened then. */
interface Count {
  readonly having: number;
  readonly seen: number;
}

/** A term that so large a part of what the reader sees has says nothing about which of it is meant. */
const COMMON = 0.25;
/** Of fewer it cannot be said what is common. */
const FEW_CHUNKS = 30;
const MOST_COUNTS = 1_000;

export function createTellingTerms(
  census: Pick<Census, "all" | "visible">,
  terms: Pick<TermIndex, "opened">,
): TellingTo {
  const counts = new Map<string, Count>();

  function count(term: string, key: Key, seen: number): Count {
    if (counts.size >= MOST_COUNTS) counts.clear();
    const counted = { having: terms.opened([term], key).size, seen };
    counts.set(nameOf(term, key), counted);
    return counted;
  }

  return (key) => {
    const [all, visible] = [census.all(), census.visible(key)];
    const seen = visible.notes + visible.turns;
    const hidden = all.notes + all.turns - seen;
    const most = seen * COMMON;
    return (term, frequency) => {
      if (seen < FEW_CHUNKS || frequency <= most) return true;
      // Also where all that is hidden has it: only between the two it has to be counted.
      if (frequency - hidden > most) return false;
      const last = counts.get(nameOf(term, key));
      const counted = last !== undefined && isDecided(last, seen) ? last : count(term, key, seen);
      return counted.having <= most;
    };
  };
}

/** Whether a count tells the same, whatever the chunks that came since may say. */
function isDecided({ having, seen }: Count, seenNow: number): boolean {
  const most = seenNow * COMMON;
  return seenNow >= seen && (having > most || having + (seenNow - seen) <= most);
}

function nameOf(term: string, { labels }: Key): string {
  return [term, ...labels].join(" ");
}
