import { isJsonObject, type JsonObject, type JsonValue, type ThinkingLevel } from "@signalbox/agent-core";

/**
 * The quirks of a wire format with their defaults: a boolean, the first of several words, words for thinking levels, or
 * any object (`null`).
 */
type QuirkTable = Readonly<Record<string, Usual>>;
type Usual = boolean | readonly (string | boolean | undefined)[] | Efforts | null;

/** The vendor's words for thinking levels. Each one overrides the default. */
type Efforts = { readonly [Level in ThinkingLevel]?: string };

export type QuirksOf<Table> = { readonly [Name in keyof Table]: QuirkOf<Table[Name]> };
type QuirkOf<T> = T extends boolean
  ? boolean
  : T extends readonly (infer Word)[]
    ? Word
    : T extends null
      ? JsonObject | null
      : Efforts;

/** Reads quirks from several layers. Later layers override earlier ones, and invalid values are ignored. */
export function readQuirks<Table extends QuirkTable>(
  table: Table,
  ...layers: readonly (JsonObject | undefined)[]
): QuirksOf<Table>;
export function readQuirks(table: QuirkTable, ...layers: readonly (JsonObject | undefined)[]): object {
  const read = Object.entries(table).map(([name, usual]) => {
    const first: unknown = Array.isArray(usual) ? usual[0] : usual;
    return [name, layers.reduce((known, layer) => quirkOf(usual, known, layer?.[name]), first)];
  });
  return Object.fromEntries(read);
}

/** Returns the value of a quirk after applying one more layer. */
function quirkOf(usual: Usual, known: unknown, given: JsonValue | undefined): unknown {
  if (typeof usual === "boolean") return typeof given === "boolean" ? given : known;
  if (Array.isArray(usual)) return given !== undefined && usual.includes(given) ? given : known;
  if (!isJsonObject(given)) return known;
  if (usual === null) return given;
  const words = Object.entries(given).filter(([, word]) => typeof word === "string" && word !== "");
  return { ...(isJsonObject(known) ? known : {}), ...Object.fromEntries(words) };
}
