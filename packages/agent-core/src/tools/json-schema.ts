import type { Schema } from "@cfworker/json-schema";
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { CheckWork, MAX_COMPARED } from "./check-work.ts";
import { MAX_PATTERN_TEXT, type PatternCost, safePattern } from "./pattern.ts";
import { issuesOf, pointerKeys, type SchemaIssue } from "./schema-issues.ts";

/** Says what is wrong with a value; nothing when it fits. */
export type JsonSchemaCheck = (value: unknown) => readonly SchemaIssue[];

/**
 * The check of a JSON Schema (draft 2020-12, and what older drafts and OpenAPI write differently). `format`, references
 * to elsewhere and unknown keywords are annotations.
 *
 * A schema may come from anywhere, so its work is bounded: a pattern that could keep the engine busy is an annotation
 * too (`safePattern`), no string of more than 256 characters is matched against one, no list of more than 128 entries
 * has them compared, and a value that takes more steps than a sound schema asks for is wrong (`CheckWork`). The
 * validator is loaded with the first schema that needs it.
 */
export async function compileJsonSchema(source: JsonValue): Promise<JsonSchemaCheck> {
  const { validate } = await import("@cfworker/json-schema");
  const reader = new SchemaReader(source);
  const { schema, definitions } = reader;
  const lookup = Object.fromEntries(definitions);
  const schemaAt = (location: string): unknown =>
    pointerKeys(location.slice(1)).reduce<unknown>(
      (at, key) => (key === "$ref" && isJsonObject(at) ? definitions.get(String(at.$ref)) : partOf(at, key)),
      schema,
    );
  return (value) => {
    reader.work = new CheckWork(value);
    if (reader.matchesNames && !reader.work.hasShortNames) {
      return [{ path: "", message: `has a name of more than ${MAX_PATTERN_TEXT} characters` }];
    }
    try {
      const { errors } = validate(value, schema, "2020-12", lookup, false);
      return issuesOf(errors, schemaAt);
    } catch {
      // The bound on its work, or a stack that references into themselves have used up.
      return [{ path: "", message: "cannot be checked: the schema asks for too much work" }];
    }
  };
}

function partOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

const TYPES = new Set(["string", "number", "integer", "boolean", "null", "array", "object"]);

/** What the validator may have of a keyword's value; nothing where it is not of the right kind. */
type ReadKeyword = (value: JsonValue, reader: SchemaReader) => unknown;

function each(keywords: string, read: ReadKeyword): (readonly [string, ReadKeyword])[] {
  return keywords.split(" ").map((keyword) => [keyword, read]);
}

const KEYWORDS: ReadonlyMap<string, ReadKeyword> = new Map([
  ...each("minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems", number),
  ...each("minContains maxContains minProperties maxProperties", number),
  ...each("multipleOf", (value) => (Number(value) > 0 ? number(value) : undefined)),
  ...each("enum", (value) => (Array.isArray(value) ? value : undefined)),
  ...each("const", (value) => value),
  ...each("required", strings),
  ...each("dependentRequired", (value) => {
    if (!isJsonObject(value)) return undefined;
    return Object.fromEntries(Object.entries(value).map(([key, keys]) => [key, strings(keys)]));
  }),
  ...each("not if then else items contains additionalProperties", (value, reader) => reader.read(value)),
  ...each("unevaluatedProperties unevaluatedItems propertyNames", (value, reader) => reader.read(value)),
  ...each("anyOf oneOf prefixItems", (value, reader) => {
    const list = reader.list(value);
    return list.length > 0 ? list : undefined;
  }),
  ...each("properties dependentSchemas", (value, reader) =>
    isJsonObject(value) ? reader.map(value) : undefined,
  ),
  ...each("$ref", (value, reader) => (typeof value === "string" && reader.define(value) ? value : undefined)),
]);

/** Reads a schema from anywhere into one the validator can rely on: keywords it knows, each of the right kind. */
class SchemaReader {
  readonly schema: Schema | boolean;
  /** What local references lead to, by reference. */
  readonly definitions = new Map<string, Schema | boolean>();
  /** Whether names of properties are matched against patterns. */
  matchesNames = false;
  /** Of the value that is being checked. */
  work = new CheckWork(undefined);
  readonly #root: JsonValue;

  constructor(root: JsonValue) {
    this.#root = root;
    this.schema = this.read(root);
  }

  read(source: unknown): Schema | boolean {
    if (typeof source === "boolean") return source;
    const schema: Schema = {};
    if (!isJsonObject(source)) return schema;
    for (const [keyword, value] of Object.entries(source)) {
      const kept = KEYWORDS.get(keyword)?.(value, this);
      if (kept !== undefined) schema[keyword] = kept;
    }
    const types = [source.type].flat().filter((type) => TYPES.has(String(type)));
    // OpenAPI 3.0 writes an optional null this way, and MCP servers pass it on.
    if (types.length > 0 && source.nullable === true) types.push("null");
    if (types.length > 0) Object.assign(schema, { type: types.length === 1 ? types[0] : types });
    if (Array.isArray(source.items)) {
      // Before 2020-12 a list under `items` meant what `prefixItems` means now.
      schema.prefixItems = this.list(source.items);
      schema.items = this.read(source.additionalItems);
    }
    const all = [...this.list(source.allOf), ...this.#bounded(source)];
    if (all.length > 0) Object.assign(schema, { allOf: all });
    this.#readNamePatterns(schema, source);
    // The validator asks each schema that it applies for all keywords: this one, which it is not given, counts.
    const lists = Object.values(schema).filter((kept) => typeof kept === "object" && kept !== null);
    const entries = lists.reduce((sum: number, list) => sum + Object.keys(list).length, 0);
    counted(schema, "format", () => this.work.step(entries));
    return schema;
  }

  /** Keywords that ask for much work at a time: for short values, and as long as there is work left. */
  #bounded({ pattern, uniqueItems }: JsonObject): Schema[] {
    const bounded: Schema[] = [];
    const cost = typeof pattern === "string" ? safePattern(pattern) : undefined;
    if (cost !== undefined) {
      const matched = counted({}, "pattern", () => (this.work.mayMatch(cost) ? pattern : undefined));
      bounded.push({ if: { not: { type: "string", maxLength: MAX_PATTERN_TEXT } }, else: matched });
    }
    if (uniqueItems === true) {
      const compared = counted({}, "uniqueItems", () => this.work.mayCompare());
      bounded.push({ if: { not: { maxItems: MAX_COMPARED } }, else: compared });
    }
    return bounded;
  }

  #readNamePatterns(schema: Schema, { patternProperties }: JsonObject): void {
    if (!isJsonObject(patternProperties)) return;
    const costs = new Map<string, PatternCost>();
    for (const name of Object.keys(patternProperties)) {
      const nameCost = safePattern(name);
      if (nameCost !== undefined) costs.set(name, nameCost);
    }
    const safe = Object.entries(patternProperties).filter(([name]) => costs.has(name));
    const kept = this.map(Object.fromEntries(safe));
    counted(schema, "patternProperties", () => {
      // Which properties there may be besides cannot be told without them.
      if (!this.work.mayMatchNames([...costs.values()])) throw new RangeError("too many names");
      return kept;
    });
    this.matchesNames ||= safe.length > 0;
    if (safe.length === Object.keys(patternProperties).length) return;
    // What else there may be cannot be told without the patterns that are left out.
    delete schema.additionalProperties;
    delete schema.unevaluatedProperties;
  }

  list(value: JsonValue | undefined): (Schema | boolean)[] {
    return Array.isArray(value) ? value.map((entry: JsonValue) => this.read(entry)) : [];
  }

  map(value: JsonObject): Record<string, Schema | boolean> {
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, this.read(entry)]));
  }

  /** Reads what a reference leads to, once; it may lead back to where it stands. */
  define(ref: string): boolean {
    if (this.definitions.has(ref)) return true;
    const target = resolve(this.#root, ref);
    if (target === undefined) return false;
    this.definitions.set(ref, true);
    this.definitions.set(ref, this.read(target));
    return true;
  }
}

/** A keyword whose value is asked for each time that the schema is applied. */
function counted(schema: Schema, keyword: string, get: () => unknown): Schema {
  return Object.defineProperty(schema, keyword, { get, enumerable: true });
}

function number(value: JsonValue): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function strings(value: JsonValue): string[] {
  return Array.isArray(value) ? value.filter((entry: JsonValue) => typeof entry === "string") : [];
}

/** What a local reference such as `#/$defs/node` leads to. */
function resolve(root: JsonValue, ref: string): unknown {
  if (ref !== "#" && !ref.startsWith("#/")) return undefined;
  return pointerKeys(ref.slice(1)).map(decoded).reduce<unknown>(partOf, root);
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    // A lone percent sign is itself.
    return key;
  }
}
