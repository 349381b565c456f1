import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";

/** Maximum nesting up to which arguments are corrected. */
const MAX_DEPTH = 32;
/** A number in JSON notation. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Corrects arguments whose meaning is unambiguous under their schema. Drops `null` for optional properties that are not
 * nullable, and decodes numbers, booleans, lists and objects written as strings. Some models and servers always produce
 * such values. Returns the same object if there is nothing to correct.
 */
export function coerceArguments(schema: JsonObject, args: JsonObject): JsonObject {
  return coerceObject(schema, args, 0);
}

function coerceObject(schema: JsonObject, value: JsonObject, depth: number): JsonObject {
  if (depth > MAX_DEPTH) return value;
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  let isChanged = false;
  const entries = Object.entries(value).flatMap(([name, item]) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (item === undefined || !isJsonObject(property)) return [[name, item] as const];
    if (item === null && !required.includes(name) && !allowsNull(property)) {
      isChanged = true;
      return [];
    }
    const coerced = coerceValue(property, item, depth + 1);
    isChanged ||= coerced !== item;
    return [[name, coerced] as const];
  });
  return isChanged ? Object.fromEntries(entries) : value;
}

function coerceValue(given: JsonObject, value: JsonValue, depth: number): JsonValue {
  const schema = removeNull(given);
  const [type, ...others] = [schema.type]
    .flat()
    .filter((name) => typeof name === "string" && name !== "null");
  // If the schema allows several types or does not restrict them, the string may be intended.
  if (typeof type !== "string" || others.length > 0) return value;
  const decoded = typeof value === "string" ? decode(value, type) : value;
  if (type === "string" && typeof value === "number") return String(value);
  if (type === "object" && isJsonObject(decoded)) return coerceObject(schema, decoded, depth);
  if (type !== "array" || !Array.isArray(decoded) || !isJsonObject(schema.items)) return decoded;
  const { items } = schema;
  const coerced = decoded.map((item) => coerceValue(items, item, depth + 1));
  return coerced.every((item, at) => item === decoded[at]) ? decoded : coerced;
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
  if (type === "boolean") return trimmed === "true" ? true : trimmed === "false" ? false : text;
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
