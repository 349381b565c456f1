import type { Schema } from "@cfworker/json-schema";
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { isSafePattern, MAX_PATTERN_TEXT } from "./pattern.ts";
import { issuesOf, pointerKeys, type SchemaIssue } from "./schema-issues.ts";

/** Says what is wrong with a value; nothing when it fits. */
export type JsonSchemaCheck = (value: unknown) => readonly SchemaIssue[];

/** References followed for one value. Two in each of a few definitions lead to more than anything could follow. */
const MAX_REFERENCES = 100_000;

/**
 * The check of a JSON Schema (draft 2020-12, and what older drafts and OpenAPI write differently). `format`, references
 * to elsewhere and unknown keywords are annotations.
 *
 * A schema may come from anywhere, so its work is bounded: a pattern that could keep the engine busy is an annotation
 * too (`isSafePattern`), no string of more than 256 characters is matched against one, and a value for which more than
 * 100,000 references would have to be followed is wrong. The validator is loaded with the first schema that needs it.
 */
export async function compileJsonSchema(source: JsonValue): Promise<JsonSchemaCheck> {
  const { validate } = await import("@cfworker/json-schema");
  const { schema, definitions, matchesNames } = new SchemaReader(source);
  let followed = 0;
  const lookup: Record<string, Schema | boolean> = {};
  for (const [ref, definition] of definitions) {
    Object.defineProperty(lookup, ref, {
      get() {
        if (++followed > MAX_REFERENCES) throw new RangeError("too many references");
        return definition;
      },
    });
  }
  const schemaAt = (location: string): JsonValue | undefined => {
    let at: unknown = schema;
    for (const key of pointerKeys(location.slice(1))) {
      if (!isJsonObject(at) && !Array.isArray(at)) return undefined;
      at = key === "$ref" && isJsonObject(at) ? definitions.get(String(at.$ref)) : Reflect.get(at, key);
    }
    return isJsonValue(at) ? at : undefined;
  };
  return (value) => {
    followed = 0;
    if (matchesNames && hasLongName(value)) {
      return [{ path: "", message: `has a name of more than ${MAX_PATTERN_TEXT} characters` }];
    }
    try {
      const { errors } = validate(value, schema, "2020-12", lookup, false);
      return issuesOf(errors, schemaAt, value);
    } catch {
      // The bound above, or a stack that references into themselves have used up.
      return [{ path: "", message: "cannot be checked: the schema refers to itself too often" }];
    }
  };
}

function isJsonValue(value: unknown): value is JsonValue {
  return value !== undefined;
}

const TYPES = new Set(["string", "number", "integer", "boolean", "null", "array", "object"]);
const NUMBERS = new Set([
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minContains",
  "maxContains",
  "minProperties",
  "maxProperties",
]);
const SCHEMAS = new Set([
  "not",
  "if",
  "then",
  "else",
  "items",
  "contains",
  "additionalProperties",
  "unevaluatedProperties",
  "unevaluatedItems",
  "propertyNames",
]);
const SCHEMA_LISTS = new Set(["anyOf", "oneOf", "prefixItems"]);
const SCHEMA_MAPS = new Set(["properties", "dependentSchemas"]);

/** Reads a schema from anywhere into one the validator can rely on: keywords it knows, each of the right kind. */
class SchemaReader {
  readonly schema: Schema | boolean;
  /** What local references lead to, by reference. */
  readonly definitions = new Map<string, Schema | boolean>();
  /** Whether names of properties are matched against patterns. */
  matchesNames = false;
  readonly #root: JsonValue;

  constructor(root: JsonValue) {
    this.#root = root;
    this.schema = this.#read(root);
  }

  #read(source: JsonValue | undefined): Schema | boolean {
    if (typeof source === "boolean") return source;
    const schema: Schema = {};
    if (!isJsonObject(source)) return schema;
    for (const [keyword, value] of Object.entries(source)) {
      if (NUMBERS.has(keyword)) {
        if (typeof value === "number" && (keyword !== "multipleOf" || value > 0)) schema[keyword] = value;
      } else if (SCHEMAS.has(keyword)) {
        schema[keyword] = this.#read(value);
      } else if (SCHEMA_LISTS.has(keyword)) {
        const list = this.#list(value);
        if (list.length > 0) schema[keyword] = list;
      } else if (SCHEMA_MAPS.has(keyword) && isJsonObject(value)) {
        schema[keyword] = this.#map(value);
      }
    }
    this.#readValues(schema, source);
    this.#readOldItems(schema, source);
    this.#readPatterns(schema, source);
    if (typeof source.$ref === "string" && this.#define(source.$ref)) schema.$ref = source.$ref;
    return schema;
  }

  #readValues(schema: Schema, source: JsonObject): void {
    const types = [source.type].flat().filter((type) => TYPES.has(String(type)));
    // OpenAPI 3.0 writes an optional null this way, and MCP servers pass it on.
    if (types.length > 0 && source.nullable === true) types.push("null");
    if (types.length > 0) Object.assign(schema, { type: types.length === 1 ? types[0] : types });
    if (Array.isArray(source.enum)) schema.enum = source.enum;
    if (source.const !== undefined) schema.const = source.const;
    if (source.uniqueItems === true) schema.uniqueItems = true;
    if (source.required !== undefined) schema.required = strings(source.required);
    if (isJsonObject(source.dependentRequired)) {
      const needs = Object.entries(source.dependentRequired).map(
        ([key, keys]) => [key, strings(keys)] as const,
      );
      schema.dependentRequired = Object.fromEntries(needs);
    }
  }

  /** Before 2020-12 a list under `items` meant what `prefixItems` means now. */
  #readOldItems(schema: Schema, source: JsonObject): void {
    if (!Array.isArray(source.items)) return;
    schema.prefixItems = this.#list(source.items);
    schema.items = this.#read(source.additionalItems);
  }

  #readPatterns(schema: Schema, source: JsonObject): void {
    const { pattern, patternProperties } = source;
    const all = this.#list(source.allOf);
    if (typeof pattern === "string" && isSafePattern(pattern)) {
      all.push({ if: { not: { type: "string", maxLength: MAX_PATTERN_TEXT } }, else: { pattern } });
    }
    if (all.length > 0) Object.assign(schema, { allOf: all });
    if (!isJsonObject(patternProperties)) return;
    const safe = Object.entries(patternProperties).filter(([name]) => isSafePattern(name));
    schema.patternProperties = this.#map(Object.fromEntries(safe));
    this.matchesNames ||= safe.length > 0;
    if (safe.length === Object.keys(patternProperties).length) return;
    // What else there may be cannot be told without the patterns that are left out.
    delete schema.additionalProperties;
    delete schema.unevaluatedProperties;
  }

  #list(value: JsonValue | undefined): (Schema | boolean)[] {
    return Array.isArray(value) ? value.map((entry: JsonValue) => this.#read(entry)) : [];
  }

  #map(value: JsonObject): Record<string, Schema | boolean> {
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, this.#read(entry)]));
  }

  /** Reads what a reference leads to, once; it may lead back to where it stands. */
  #define(ref: string): boolean {
    if (this.definitions.has(ref)) return true;
    const target = resolve(this.#root, ref);
    if (target === undefined) return false;
    this.definitions.set(ref, true);
    this.definitions.set(ref, this.#read(target));
    return true;
  }
}

/** What a local reference such as `#/$defs/node` leads to. */
function resolve(root: JsonValue, ref: string): JsonValue | undefined {
  if (ref !== "#" && !ref.startsWith("#/")) return undefined;
  let at: JsonValue | undefined = root;
  for (const key of pointerKeys(ref.slice(1)).map(decoded)) {
    if (Array.isArray(at)) at = at[Number(key)];
    else if (isJsonObject(at)) at = at[key];
    else return undefined;
  }
  return at;
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    // A lone percent sign is itself.
    return key;
  }
}

function strings(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((entry: JsonValue) => typeof entry === "string") : [];
}

function hasLongName(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, entry]) => name.length > MAX_PATTERN_TEXT || hasLongName(entry));
}
