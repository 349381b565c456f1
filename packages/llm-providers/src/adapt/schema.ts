import { isJsonObject, type JsonObject, type JsonValue, type ToolSpec } from "@signalbox/agent-core";
import { digestId } from "../shared/digest.ts";
import { entryOf } from "../shared/json.ts";

/** A vendor's rules for the schemas of tool arguments. */
interface SchemaRules {
  /** Pattern of valid property names. Default: any. */
  readonly propertyName?: RegExp;
  /** True if combinators such as `anyOf` are accepted at the top level. */
  readonly topLevelCombinators: boolean;
}

/** By wire format. Based on requests that the vendors' APIs reject. */
const RULES: Readonly<Record<string, SchemaRules>> = {
  "anthropic-messages": { propertyName: /^[a-zA-Z0-9_.-]{1,64}$/, topLevelCombinators: false },
  "openai-responses": { topLevelCombinators: false },
  "openai-chat": { topLevelCombinators: false },
};
const NO_RULES: SchemaRules = { topLevelCombinators: true };

/** A tool in the form that a wire format accepts. */
export interface WireTool {
  readonly tool: ToolSpec;
  /** The tool's original property names by wire name, if any differ. */
  readonly properties: ReadonlyMap<string, string>;
}

/**
 * Adapts the schema of a tool to a wire format. Repairs schemas that are invalid under draft 2020-12 of JSON Schema,
 * merges top-level combinators if the vendor accepts none there, and renames properties whose names the vendor does not
 * accept.
 */
export function adaptSchema(api: string, tool: ToolSpec): WireTool {
  const { propertyName, topLevelCombinators } = entryOf(RULES, api) ?? NO_RULES;
  const { $schema: _, ...schema } = tool.inputSchema;
  let inputSchema = repair(schema);
  let { description } = tool;
  if (!topLevelCombinators) {
    const merged = mergeCombinators(inputSchema);
    inputSchema = merged.schema;
    description += merged.note;
  }
  const properties = new Map<string, string>();
  if (propertyName !== undefined) {
    const renamed = renamesFor(inputSchema, propertyName);
    for (const [own, wire] of renamed) properties.set(wire, own);
    if (renamed.size > 0) inputSchema = renameProperties(inputSchema, renamed);
  }
  return { tool: { ...tool, description, inputSchema }, properties };
}

/** Renames the keys in the arguments of a tool at every level. */
export function renameKeys(args: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  const rename = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(rename);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [names.get(key) ?? key, rename(item as JsonValue)]),
    );
  };
  return names.size === 0 ? args : (rename(args) as JsonObject);
}

const TYPES: Readonly<Record<string, string>> = {
  string: "string",
  str: "string",
  text: "string",
  number: "number",
  float: "number",
  double: "number",
  integer: "integer",
  int: "integer",
  boolean: "boolean",
  bool: "boolean",
  array: "array",
  list: "array",
  object: "object",
  dict: "object",
  null: "null",
};

/** Keywords whose value is a schema, a list of schemas, or an object of schemas. */
const SCHEMA = new Set([
  "items",
  "additionalProperties",
  "not",
  "if",
  "then",
  "else",
  "contains",
  "propertyNames",
]);
const SCHEMA_LISTS = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const SCHEMA_MAPS = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);

/** Converts the syntax of older drafts, and common mistakes of servers, to draft 2020-12 of JSON Schema. */
function repair(schema: JsonObject): JsonObject {
  const repaired: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(schema)) {
    const kept = repairKeyword(key, value);
    if (kept !== undefined) repaired[key] = kept;
  }
  for (const [exclusive, bound] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    // In draft 4, this is a boolean.
    if (typeof schema[exclusive] !== "boolean") continue;
    const limit = repaired[bound];
    if (schema[exclusive] !== true || typeof limit !== "number") continue;
    repaired[exclusive] = limit;
    delete repaired[bound];
  }
  const isArray = [repaired.type].flat().includes("array");
  if (isArray && repaired.items === undefined && repaired.prefixItems === undefined) repaired.items = {};
  return repaired;
}

/** Returns the repaired value of a keyword, or `undefined` if the value is invalid. */
function repairKeyword(key: string, value: JsonValue | undefined): JsonValue | undefined {
  if (value === undefined) return undefined;
  if (key === "type") return repairType(value);
  if (key === "required")
    return Array.isArray(value) ? value.filter((name) => typeof name === "string") : undefined;
  if (key === "enum") return Array.isArray(value) && value.length > 0 ? value : undefined;
  if (key === "exclusiveMinimum" || key === "exclusiveMaximum")
    return typeof value === "number" ? value : undefined;
  // In draft 4, a list contains one schema per position.
  if (key === "items" && Array.isArray(value)) return { anyOf: value.filter(isJsonObject).map(repair) };
  if (SCHEMA.has(key))
    return isJsonObject(value) ? repair(value) : typeof value === "boolean" ? value : undefined;
  if (SCHEMA_LISTS.has(key)) {
    const list = Array.isArray(value) ? value.filter(isJsonObject).map(repair) : [];
    return list.length > 0 ? list : undefined;
  }
  if (!SCHEMA_MAPS.has(key)) return value;
  if (!isJsonObject(value)) return key === "properties" ? {} : undefined;
  const entries = Object.entries(value).map(([name, item]): [string, JsonValue] => {
    if (isJsonObject(item)) return [name, repair(item)];
    return [name, typeof item === "boolean" ? item : {}];
  });
  return Object.fromEntries(entries);
}

function repairType(value: JsonValue): JsonValue | undefined {
  const words = [value]
    .flat()
    .flatMap((word) => (typeof word === "string" ? (entryOf(TYPES, word) ?? []) : []));
  if (words.length === 0) return undefined;
  return Array.isArray(value) ? words : words[0];
}

const COMBINATORS = ["anyOf", "oneOf", "allOf", "not", "if", "then", "else", "enum", "const"] as const;
/** Maximum length of a schema part that is moved to the description, in UTF-16 code units. */
const MAX_NOTE_LENGTH = 1_000;

/** Merges the properties of top-level combinators into one object. Their requirements become a note for the model. */
function mergeCombinators(schema: JsonObject): { readonly schema: JsonObject; readonly note: string } {
  const found = COMBINATORS.filter((name) => schema[name] !== undefined);
  if (found.length === 0) return { schema, note: "" };
  const rest: Record<string, JsonValue | undefined> = { ...schema };
  for (const name of found) delete rest[name];
  const branches = [schema.allOf, schema.anyOf, schema.oneOf, schema.then, schema.else]
    .flat()
    .filter(isJsonObject);
  const properties = Object.assign({}, ...branches.toReversed().map(propertiesOf), propertiesOf(schema));
  const all = [schema.allOf].flat().filter(isJsonObject);
  const required = [...new Set([schema, ...all].flatMap(requiredOf))];
  const condition = JSON.stringify(Object.fromEntries(found.map((name) => [name, schema[name]])));
  const note = `\n\nThe arguments must also match this JSON Schema: ${condition}`;
  return {
    schema: { ...rest, type: "object", properties, ...(required.length > 0 && { required }) },
    note: note.length > MAX_NOTE_LENGTH ? "" : note,
  };
}

function propertiesOf({ properties }: JsonObject): JsonObject {
  return isJsonObject(properties) ? properties : {};
}

function requiredOf({ required }: JsonObject): string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

/** Returns a valid replacement for each invalid property name in a schema. */
function renamesFor(schema: JsonObject, valid: RegExp): ReadonlyMap<string, string> {
  const names = new Set<string>();
  visitProperties(schema, (name) => names.add(name));
  const renamed = new Map<string, string>();
  const taken = new Set(names);
  for (const name of names) {
    if (valid.test(name)) continue;
    const plain = name.replace(/[^a-zA-Z0-9_.-]/g, "_").slice(0, 48) || "_";
    const unique = taken.has(plain) ? `${plain}_${digestId(name, 8)}` : plain;
    taken.add(unique);
    renamed.set(name, unique);
  }
  return renamed;
}

function visitProperties(schema: JsonObject, visit: (name: string) => void): void {
  for (const name of Object.keys(propertiesOf(schema))) visit(name);
  for (const inner of innerSchemas(schema)) visitProperties(inner, visit);
}

function innerSchemas(schema: JsonObject): JsonObject[] {
  return Object.entries(schema).flatMap(([key, value]) => {
    if (SCHEMA.has(key)) return isJsonObject(value) ? [value] : [];
    if (SCHEMA_LISTS.has(key)) return Array.isArray(value) ? value.filter(isJsonObject) : [];
    return SCHEMA_MAPS.has(key) && isJsonObject(value) ? Object.values(value).filter(isJsonObject) : [];
  });
}

function renameProperties(schema: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  const inner = (value: JsonValue | undefined): JsonValue | undefined =>
    isJsonObject(value) ? renameProperties(value, names) : value;
  const entries = Object.entries(schema).map(([key, value]): [string, JsonValue | undefined] => {
    if (key === "required" && Array.isArray(value))
      return [key, value.map((name) => (typeof name === "string" ? (names.get(name) ?? name) : name))];
    if (SCHEMA.has(key)) return [key, inner(value)];
    if (SCHEMA_LISTS.has(key) && Array.isArray(value)) return [key, value.map((item) => inner(item) ?? null)];
    if (!SCHEMA_MAPS.has(key) || !isJsonObject(value)) return [key, value];
    const isProperties = key === "properties";
    return [
      key,
      Object.fromEntries(
        Object.entries(value).map(([name, item]) => [
          isProperties ? (names.get(name) ?? name) : name,
          inner(item) ?? null,
        ]),
      ),
    ];
  });
  return Object.fromEntries(entries.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
}
