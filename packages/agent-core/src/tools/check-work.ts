import { MAX_PATTERN_TEXT, type PatternCost, waysThrough } from "./pattern.ts";

/** Schemas applied for one value and all inside of it; each takes a microsecond or two. */
const MAX_STEPS = 300_000;
/** What a keyword lists, such as an enum's values, is looked through at this many entries a step. */
const ENTRIES_A_STEP = 8;
/** Ways that are tried through patterns: a fifth of a second. */
const MAX_TRIES = 2 ** 28;
/** Entries of a list that are compared, each with every other. */
export const MAX_COMPARED = 128;
/** What comparing two entries takes, in ways tried. */
const TRIES_TO_COMPARE = 8;

/** Keeps the work that a value costs bounded, whoever wrote the schema and the value. */
export class CheckWork {
  #steps = 0;
  #tries = 0;
  /** Characters of the longest text of the value, and of the longest name of a property. */
  #longestText = 0;
  #longestName = 0;
  #names = 0;
  #longestList = 0;

  begin(value: unknown): void {
    this.#steps = this.#tries = 0;
    this.#longestText = this.#longestName = this.#names = this.#longestList = 0;
    this.#measure(value);
  }

  #measure(value: unknown): void {
    if (typeof value === "string") this.#longestText = Math.max(this.#longestText, value.length);
    if (typeof value !== "object" || value === null) return;
    if (Array.isArray(value)) this.#longestList = Math.max(this.#longestList, value.length);
    for (const [name, entry] of Object.entries(value)) {
      this.#measure(entry);
      if (Array.isArray(value)) continue;
      this.#names++;
      this.#longestName = Math.max(this.#longestName, name.length);
    }
  }

  /** Whether each name of a property is short enough to be matched. */
  get hasShortNames(): boolean {
    return this.#longestName <= MAX_PATTERN_TEXT;
  }

  /** A schema with so many entries is applied. @throws RangeError once it has become too much */
  step(entries: number): void {
    this.#steps += 1 + entries / ENTRIES_A_STEP;
    if (this.#steps > MAX_STEPS) throw new RangeError("too many steps");
  }

  /** Whether a text may be matched too. */
  mayMatch(cost: PatternCost): boolean {
    return this.#spend(waysThrough(cost, Math.min(this.#longestText, MAX_PATTERN_TEXT)));
  }

  /**
   * Each name is matched: which properties there may be besides cannot be told without that.
   * @throws RangeError once it has become too much
   */
  matchNames(costs: readonly PatternCost[]): void {
    const may = costs.every((cost) => this.#spend(waysThrough(cost, this.#longestName) * this.#names));
    if (!may) throw new RangeError("too many names");
  }

  /** Whether the entries of a list may be compared too. */
  mayCompare(): boolean {
    return this.#spend(Math.min(this.#longestList, MAX_COMPARED) ** 2 * TRIES_TO_COMPARE);
  }

  #spend(tries: number): boolean {
    this.#tries += tries;
    return this.#tries <= MAX_TRIES;
  }
}
