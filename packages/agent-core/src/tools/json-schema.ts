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
  const { schema, definitions, matchesNames, work } = new SchemaReader(source);
  const lookup = Object.fromEntries(definitions);
  const schemaAt = (location: string): unknown =>
    pointerKeys(location.slice(1)).reduce<unknown>(
      (at, key) => (key === "$ref" && isJsonObject(at) ? definitions.get(String(at.$ref)) : partOf(at, key)),
      schema,
    );
  return (value) => {
    work.begin(value);
    if (matchesNames && !work.hasShortNames) {
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

/** A schema that counts how often it is applied: the validator asks it for every keyword then, also for this one. */
class AppliedSchema {
  [keyword: string]: unknown;
  /** How much there is to look through in its keywords. */
  entries = 0;
  readonly #work: CheckWork;

  constructor(work: CheckWork) {
    this.#work = work;
  }

  get $recursiveAnchor(): boolean {
    this.#work.step(this.entries);
    return false;
  }
}

const MATCHES_ALL = "";

/** The `pattern` of a schema, as long as there is work left for it. */
class BoundedPattern {
  readonly #work: CheckWork;
  readonly #pattern: string;
  readonly #cost: PatternCost;

  constructor(work: CheckWork, pattern: string, cost: PatternCost) {
    this.#work = work;
    this.#pattern = pattern;
    this.#cost = cost;
  }

  get pattern(): string {
    return this.#work.mayMatch(this.#cost) ? this.#pattern : MATCHES_ALL;
  }
}

/** The `uniqueItems` of a schema, as long as there is work left for it. */
class BoundedComparison {
  readonly #work: CheckWork;

  constructor(work: CheckWork) {
    this.#work = work;
  }

  get uniqueItems(): boolean {
    return this.#work.mayCompare();
  }
}

/** Reads a schema from anywhere into one the validator can rely on: keywords it knows, each of the right kind. */
class SchemaReader {
  readonly schema: Schema | boolean;
  /** What local references lead to, by reference. */
  readonly definitions = new Map<string, Schema | boolean>();
  /** Whether names of properties are matched against patterns. */
  matchesNames = false;
  readonly work = new CheckWork();
  readonly #root: JsonValue;

  constructor(root: JsonValue) {
    this.#root = root;
    this.schema = this.read(root);
  }

  read(source: unknown): Schema | boolean {
    if (typeof source === "boolean") return source;
    const schema = new AppliedSchema(this.work);
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
    const lists = Object.values(schema).filter((kept) => typeof kept === "object" && kept !== null);
    schema.entries = lists.reduce((sum: number, list) => sum + Object.keys(list ?? {}).length, 0);
    return schema;
  }

  /** Keywords that ask for much work at a time: for short values, and as long as there is work left. */
  #bounded({ pattern, uniqueItems }: JsonObject): Schema[] {
    const bounded: Schema[] = [];
    const cost = typeof pattern === "string" ? safePattern(pattern) : undefined;
    if (typeof pattern === "string" && cost !== undefined) {
      const short = { type: "string", maxLength: MAX_PATTERN_TEXT } as const;
      bounded.push({ if: { not: short }, else: new BoundedPattern(this.work, pattern, cost) });
    }
    if (uniqueItems === true) {
      bounded.push({ if: { not: { maxItems: MAX_COMPARED } }, else: new BoundedComparison(this.work) });
    }
    return bounded;
  }

  #readNamePatterns(schema: AppliedSchema, { patternProperties }: JsonObject): void {
    if (!isJsonObject(patternProperties)) return;
    const costs = new Map<string, PatternCost>();
    for (const name of Object.keys(patternProperties)) {
      const nameCost = safePattern(name);
      if (nameCost !== undefined) costs.set(name, nameCost);
    }
    const safe = Object.entries(patternProperties).filter(([name]) => costs.has(name));
    const kept = this.map(Object.fromEntries(safe));
    Object.defineProperty(schema, "patternProperties", {
      get: () => {
        this.work.matchNames([...costs.values()]);
        return kept;
      },
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
