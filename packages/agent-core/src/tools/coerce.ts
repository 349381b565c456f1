import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";

/** Maximum nesting up to which arguments are corrected. */
const MAX_DEPTH = 32;
/** A number in JSON notation. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Keys under which some models put all arguments. */
const WRAPPERS = ["arguments", "args", "input", "parameters", "params"];
/** Strings that stand for no value. */
const NOTHING = /^(?:|null|none|undefined)$/i;

/**
 * Corrects arguments whose meaning is unambiguous under their schema. Drops `null` and empty strings for optional
 * properties that accept neither, decodes numbers, booleans, lists and objects written as strings, puts a single item
 * into a list, and unwraps arguments that are nested in another object. Some models and servers always produce such
 * values. Returns the same object if there is nothing to correct.
 */
export function coerceArguments(schema: JsonObject, args: JsonObject): JsonObject {
  return coerceObject({ schema, root: schema, depth: 0 }, unwrap(schema, args));
}

/** A schema, and the one that its references point into. */
interface Place {
  readonly schema: JsonObject;
  readonly root: JsonObject;
  readonly depth: number;
}

/** Returns the arguments inside a single unknown property with a typical name. */
function unwrap(schema: JsonObject, args: JsonObject): JsonObject {
  const properties = propertiesOf(schema);
  const [name = "", ...others] = Object.keys(args);
  if (others.length > 0 || !WRAPPERS.includes(name) || Object.hasOwn(properties, name)) return args;
  const value = args[name];
  const inner = typeof value === "string" ? decode(value, "object") : value;
  const isMeant = isJsonObject(inner) && Object.keys(inner).some((key) => Object.hasOwn(properties, key));
  return isMeant ? inner : args;
}

function propertiesOf({ properties }: JsonObject): JsonObject {
  return isJsonObject(properties) ? properties : {};
}

function coerceObject({ schema, root, depth }: Place, value: JsonObject): JsonObject {
  if (depth > MAX_DEPTH) return value;
  const properties = propertiesOf(schema);
  const required = Array.isArray(schema.required) ? schema.required : [];
  let isChanged = false;
  const entries = Object.entries(value).flatMap(([name, item]) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (item === undefined || !isJsonObject(property)) return [[name, item] as const];
    const resolved = resolve(property, root);
    if (!required.includes(name) && isNothing(item, resolved)) {
      isChanged = true;
      return [];
    }
    const coerced = coerceValue({ schema: resolved, root, depth: depth + 1 }, item);
    isChanged ||= coerced !== item;
    return [[name, coerced] as const];
  });
  return isChanged ? Object.fromEntries(entries) : value;
}

/** Returns true if an optional property has a value that can only stand for its absence. */
function isNothing(item: JsonValue, schema: JsonObject): boolean {
  if (item === null) return !allowsNull(schema);
  if (typeof item !== "string" || !NOTHING.test(item.trim())) return false;
  const { type, enum: values } = removeNull(schema);
  if (type === "string") return item === "" && Array.isArray(values) && !values.includes("");
  return typeof type === "string";
}

function coerceValue({ schema: given, root, depth }: Place, value: JsonValue): JsonValue {
  const schema = resolve(removeNull(given), root);
  const [type, ...others] = [schema.type]
    .flat()
    .filter((name) => typeof name === "string" && name !== "null");
  // If the schema allows several types or does not restrict them, the string may be intended.
  if (typeof type !== "string" || others.length > 0) return value;
  const decoded = typeof value === "string" ? decode(value, type) : value;
  if (type === "string" && (typeof value === "number" || typeof value === "boolean")) return String(value);
  if (type === "object" && isJsonObject(decoded))
    return depth > MAX_DEPTH ? decoded : coerceObject({ schema, root, depth }, decoded);
  if (type !== "array" || !isJsonObject(schema.items)) return decoded;
  const items = resolve(schema.items, root);
  const list = Array.isArray(decoded) ? decoded : isSingleItem(decoded, items) ? [decoded] : undefined;
  if (list === undefined || depth > MAX_DEPTH) return decoded;
  const coerced = list.map((item) => coerceValue({ schema: items, root, depth: depth + 1 }, item));
  return list === decoded && coerced.every((item, at) => item === list[at]) ? decoded : coerced;
}

/** Returns true for a value that is an item of a list. A text with separators may be several items. */
function isSingleItem(value: JsonValue, { type }: JsonObject): boolean {
  if (typeof value === "string") return type === "string" && /^[^,;\n[\]{}]+$/.test(value);
  return type === "object" ? isJsonObject(value) : type === typeof value;
}

/** Follows a reference within the schema. */
function resolve(schema: JsonObject, root: JsonObject): JsonObject {
  const { $ref } = schema;
  if (typeof $ref !== "string" || !$ref.startsWith("#/")) return schema;
  let target: JsonValue | undefined = root;
  for (const step of $ref.slice(2).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    target = isJsonObject(target) && Object.hasOwn(target, key) ? target[key] : undefined;
  }
  return isJsonObject(target) ? target : schema;
}

/** Returns the schema of `T` for a schema of `T` or `null`. */
function removeNull(schema: JsonObject): JsonObject {
  const alternatives = [schema.anyOf ?? schema.oneOf ?? []].flat().filter(isJsonObject);
  const [only, ...others] = alternatives.filter(({ type }) => type !== "null");
  return schema.type === undefined && only !== undefined && others.length === 0 ? only : schema;
}

/** Decodes a string as a value of the given type. Returns the string if that fails. */
function decode(text: string, type: string | undefined): JsonValue {
  const trimmed = text.trim();
  if (type === "boolean") {
    const word = trimmed.toLowerCase();
    return word === "true" ? true : word === "false" ? false : text;
  }
  if (type === "number" || type === "integer") {
    const number = NUMBER.test(trimmed) ? Number(trimmed) : Number.NaN;
    return Number.isFinite(number) && (type === "number" || Number.isInteger(number)) ? number : text;
  }
  if (type !== "array" && type !== "object") return text;
  try {
    const value: JsonValue = JSON.parse(trimmed);
    const isMeant = type === "array" ? Array.isArray(value) : isJsonObject(value);
    return isMeant ? value : text;
  } catch {
    return text;
  }
}

function allowsNull(schema: JsonObject): boolean {
  const types = [schema.type].flat();
  if (types.includes("null") || schema.nullable === true) return true;
  if (Array.isArray(schema.enum)) return schema.enum.includes(null);
  if (schema.const !== undefined) return schema.const === null;
  const alternatives = [schema.anyOf, schema.oneOf].flat().filter(isJsonObject);
  if (alternatives.length > 0) return alternatives.some(allowsNull);
  return schema.type === undefined;
}
