import { parentPort } from "node:worker_threads";
import { type Schema, validate } from "@cfworker/json-schema";
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { findIssues, getPointerKeys, type SchemaIssue } from "./schema-issues.ts";

// Worker thread of `json-schema.ts`. Sends a message when it is loaded, and then responds to each `{ schema, value }`
// with the issues of the value.
parentPort?.on("message", ({ schema, value }: { readonly schema: JsonValue; readonly value: unknown }) =>
  parentPort?.postMessage(validateValue(schema, value)),
);

parentPort?.postMessage("loaded");

function validateValue(source: JsonValue, value: unknown): readonly SchemaIssue[] {
  const { schema, definitions } = new SchemaReader(source);
  const schemaAt = (location: string): unknown =>
    getPointerKeys(location.slice(1)).reduce<unknown>(
      (at, key) =>
        key === "$ref" && isJsonObject(at) ? definitions.get(String(at.$ref)) : getMember(at, key),
      schema,
    );
  try {
    const { errors } = validate(value, schema, "2020-12", Object.fromEntries(definitions), false);
    return findIssues(errors, schemaAt);
  } catch {
    // Infinite references, or too many issues, overflow the stack.
    return [{ path: "", message: "cannot be validated: the tool's schema is too complex" }];
  }
}

function getMember(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

const TYPES = new Set(["string", "number", "integer", "boolean", "null", "array", "object"]);

/** Returns a keyword's value for the validator, or `undefined` to ignore a value of the wrong type. */
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
  ...each("uniqueItems", (value) => value === true),
  ...each("pattern", (value) => (typeof value === "string" && isPattern(value) ? value : undefined)),
  ...each("required", strings),
  ...each("dependentRequired", (value) => {
    if (!isJsonObject(value)) return undefined;
    return Object.fromEntries(Object.entries(value).map(([key, keys]) => [key, strings(keys ?? null)]));
  }),
  ...each("not if then else items contains additionalProperties", (value, reader) => reader.read(value)),
  ...each("unevaluatedProperties unevaluatedItems propertyNames", (value, reader) => reader.read(value)),
  ...each("allOf anyOf oneOf prefixItems", (value, reader) => {
    const list = reader.list(value);
    return list.length > 0 ? list : undefined;
  }),
  ...each("properties patternProperties dependentSchemas", (value, reader) =>
    isJsonObject(value) ? reader.map(value) : undefined,
  ),
  ...each("$ref", (value, reader) => (typeof value === "string" && reader.define(value) ? value : undefined)),
]);

/**
 * Copies an arbitrary schema into one that the validator accepts: only known keywords, each with a value of the right
 * type.
 */
class SchemaReader {
  readonly schema: Schema | boolean;
  /** The targets of local references, by reference. */
  readonly definitions = new Map<string, Schema | boolean>();
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
      const read = value === undefined ? undefined : KEYWORDS.get(keyword)?.(value, this);
      if (read !== undefined) schema[keyword] = read;
    }
    const types = [source.type].flat().filter((type) => TYPES.has(String(type)));
    // OpenAPI 3.0 marks nullable values this way, and MCP servers pass it on.
    if (types.length > 0 && source.nullable === true) types.push("null");
    if (types.length > 0) Object.assign(schema, { type: types.length === 1 ? types[0] : types });
    if (Array.isArray(source.items)) {
      // Before draft 2020-12, a list under `items` had the meaning of `prefixItems`.
      schema.prefixItems = this.list(source.items);
      schema.items = this.read(source.additionalItems);
    }
    removeUnknownPatterns(schema);
    return schema;
  }

  list(value: JsonValue | undefined): (Schema | boolean)[] {
    return Array.isArray(value) ? value.map((entry: JsonValue) => this.read(entry)) : [];
  }

  map(value: JsonObject): Record<string, Schema | boolean> {
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, this.read(entry)]));
  }

  /** Reads the target of a reference once, because references may be recursive. Returns true if the target exists. */
  define(ref: string): boolean {
    if (this.definitions.has(ref)) return true;
    const target = resolve(this.#root, ref);
    if (target === undefined) return false;
    this.definitions.set(ref, true);
    this.definitions.set(ref, this.read(target));
    return true;
  }
}

/**
 * Removes property name patterns that JavaScript cannot compile. Also removes the rule for all other properties,
 * because it is unknown which properties the patterns cover.
 */
function removeUnknownPatterns(schema: Schema): void {
  const unknown = Object.keys(schema.patternProperties ?? {}).filter((pattern) => !isPattern(pattern));
  if (unknown.length === 0) return;
  for (const pattern of unknown) delete schema.patternProperties?.[pattern];
  delete schema.additionalProperties;
  delete schema.unevaluatedProperties;
}

/** Patterns of other dialects, such as Python's `(?P<name>…)`, do not compile. */
function isPattern(source: string): boolean {
  try {
    new RegExp(source, "u");
    return true;
  } catch {
    return false;
  }
}

function number(value: JsonValue): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function strings(value: JsonValue): string[] {
  return Array.isArray(value) ? value.filter((entry: JsonValue) => typeof entry === "string") : [];
}

/** Returns the target of a local reference such as `#/$defs/node`. */
function resolve(root: JsonValue, ref: string): unknown {
  if (ref !== "#" && !ref.startsWith("#/")) return undefined;
  return getPointerKeys(ref.slice(1)).map(decode).reduce<unknown>(getMember, root);
}

function decode(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    // A percent sign that is not part of an escape is literal.
    return key;
  }
}
