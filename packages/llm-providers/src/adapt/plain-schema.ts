import { isJsonObject, type JsonObject, type JsonValue, type ToolSpec } from "@signalbox/agent-core";

/** Maximum nesting depth. Recursive schemas are cut off there. */
const MAX_DEPTH = 8;
/** Maximum length of a schema that is moved to the description, in UTF-16 code units. */
const MAX_NOTE_LENGTH = 1_000;

/**
 * Reduces the schema of a tool to types, descriptions, properties and enumerations, for servers that reject other
 * keywords. The schema itself becomes a note for the model. A property with several types has only the first one.
 */
export function simplifySchema(tool: ToolSpec): ToolSpec {
  const { description, inputSchema } = tool;
  const plain = { ...simplify(inputSchema, inputSchema, 0), type: "object" };
  const schema = { properties: {}, ...plain };
  if (JSON.stringify(schema) === JSON.stringify(inputSchema)) return tool;
  const note = `\n\nThe arguments must also match this JSON Schema: ${JSON.stringify(inputSchema)}`;
  return {
    ...tool,
    description: note.length > MAX_NOTE_LENGTH ? description : description + note,
    inputSchema: schema,
  };
}

function simplify(given: JsonObject, root: JsonObject, depth: number): JsonObject {
  if (depth > MAX_DEPTH) return {};
  const schema = resolve(given, root);
  const type = findType(schema);
  const plain: Record<string, JsonValue> = {};
  if (type !== undefined) plain.type = type;
  if (typeof schema.description === "string") plain.description = schema.description;
  const values = (Array.isArray(schema.enum) ? schema.enum : [schema.const]).filter(isWord);
  if (values.length > 0 && values.every((value) => typeof value === typeof values[0])) plain.enum = values;
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  if (type === "object") {
    const entries = Object.entries(properties).map(([name, value]): [string, JsonValue] => [
      name,
      isJsonObject(value) ? simplify(value, root, depth + 1) : {},
    ]);
    plain.properties = Object.fromEntries(entries);
    const required = Array.isArray(schema.required) ? schema.required : [];
    const known = required.filter((name) => typeof name === "string" && Object.hasOwn(properties, name));
    if (known.length > 0) plain.required = known;
  }
  if (type === "array")
    plain.items = isJsonObject(schema.items) ? simplify(schema.items, root, depth + 1) : { type: "string" };
  return plain;
}

/** Follows a reference, and merges the first alternative that is not `null`. */
function resolve(schema: JsonObject, root: JsonObject): JsonObject {
  const { $ref, anyOf, oneOf, allOf, ...rest } = schema;
  const target = typeof $ref === "string" ? find($ref, root) : undefined;
  const all = [allOf].flat().filter(isJsonObject);
  const [first] = [anyOf ?? oneOf]
    .flat()
    .filter((one): one is JsonObject => isJsonObject(one) && isUsable(one));
  const parts = [target, ...all, first].filter((part) => part !== undefined);
  if (parts.length === 0) return rest;
  const properties = [...parts, rest].map(({ properties: own }) => (isJsonObject(own) ? own : {}));
  return {
    ...Object.assign(
      {},
      ...parts.map((part) => (part.$ref === undefined ? part : (find(part.$ref, root) ?? {}))),
    ),
    ...rest,
    ...(properties.some((own) => Object.keys(own).length > 0) && {
      properties: Object.assign({}, ...properties),
    }),
  };
}

function isUsable({ type, not }: JsonObject): boolean {
  return type !== "null" && not === undefined;
}

/** Returns the schema to which a reference within `root` points. */
function find(reference: JsonValue | undefined, root: JsonObject): JsonObject | undefined {
  if (typeof reference !== "string" || !reference.startsWith("#/")) return undefined;
  let value: JsonValue | undefined = root;
  for (const step of reference.slice(2).split("/"))
    value = isJsonObject(value) ? value[step.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
  return isJsonObject(value) ? value : undefined;
}

function findType({ type, properties, items }: JsonObject): string | undefined {
  const stated = [type].flat().find((one) => typeof one === "string" && one !== "null");
  if (typeof stated === "string") return stated;
  if (isJsonObject(properties)) return "object";
  return items === undefined ? undefined : "array";
}

function isWord(value: JsonValue | undefined): value is string | number {
  return typeof value === "string" || typeof value === "number";
}
