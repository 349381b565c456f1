import type { JsonObject, JsonValue, ThinkingLevel } from "@signalbox/agent-core";
import { isRaw, textAt } from "./json.ts";
import { LEVELS } from "./thinking.ts";

/** One thing that models or servers do differently. */
interface Quirk<T> {
  /** Where nobody says anything. */
  readonly usual: T;
  /** What a model states, or `base` where that is nothing the quirk may be. */
  read(given: JsonValue | undefined, base: T): T;
}

/** Every quirk of a wire format. */
export type QuirkTable<Q> = { readonly [Name in keyof Q]: Quirk<Q[Name]> };

/** A model's quirks: what it states itself, else what is known of its server or its kind, else what is usual. */
export function readQuirks<Q>(table: QuirkTable<Q>, stated?: JsonObject, known?: Partial<Q>): Q;
export function readQuirks(
  table: Readonly<Record<string, Quirk<unknown>>>,
  stated: JsonObject = {},
  known: Readonly<Record<string, unknown>> = {},
): object {
  const read = Object.entries(table).map(([name, quirk]) => {
    return [name, quirk.read(stated[name], known[name] ?? quirk.usual)];
  });
  return Object.fromEntries(read);
}

/** One of these words; the first is usual. */
export function choice<const T extends string>(usual: T, ...others: readonly T[]): Quirk<T> {
  const words = [usual, ...others];
  return { usual, read: (given, base) => words.find((word) => word === given) ?? base };
}

/** One of these words, or nothing at all, as is usual. */
export function optional<const T extends string>(...words: readonly T[]): Quirk<T | undefined> {
  return { usual: undefined, read: (given, base) => words.find((word) => word === given) ?? base };
}

export function flag<T extends boolean | undefined>(usual: T): Quirk<T | boolean> {
  return { usual, read: (given, base) => (typeof given === "boolean" ? given : base) };
}

/** The vendor's words for thinking levels; each that a model states takes the place of the one known. */
export function efforts(
  usual: Readonly<Partial<Record<ThinkingLevel, string>>>,
): Quirk<Readonly<Partial<Record<ThinkingLevel, string>>>> {
  const words = (given: JsonValue | undefined) =>
    LEVELS.flatMap((level) => {
      const word = isRaw(given) ? textAt(given, level) : undefined;
      return word === undefined ? [] : [[level, word] as const];
    });
  return { usual, read: (given, base) => ({ ...base, ...Object.fromEntries(words(given)) }) };
}
