import type { ConfigPath } from "./problem.ts";
import { isSecretPlace } from "./secret-places.ts";

type JsonSchema = Record<string, unknown>;

/** Schema of references that may replace a secret. */
const REFERENCE: JsonSchema = {
  oneOf: [
    {
      type: "object",
      properties: { file: { type: "string" } },
      required: ["file"],
      additionalProperties: false,
      description: "Read from a file",
    },
    {
      type: "object",
      properties: { command: { type: "array", items: { type: "string" }, minItems: 1 } },
      required: ["command"],
      additionalProperties: false,
      description: "Read from a program's output",
    },
  ],
};

/** Extends a schema of the file so that secrets may also be references. */
export function withReferences(schema: JsonSchema, path: ConfigPath = []): JsonSchema {
  const changed = Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, extendKeyword(keyword, value, path)]),
  );
  if (schema["type"] !== "string" || !isSecretPlace(path)) return changed;
  const { description, ...text } = changed;
  return { ...(description === undefined ? {} : { description }), anyOf: [text, REFERENCE] };
}

function extendKeyword(keyword: string, value: unknown, path: ConfigPath): unknown {
  if (keyword === "properties" && isSchema(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, property]) => [
        name,
        isSchema(property) ? withReferences(property, [...path, name]) : property,
      ]),
    );
  }
  // The names of secrets are listed as properties, so the name does not matter here.
  if (keyword === "additionalProperties" && isSchema(value)) return withReferences(value, [...path, "*"]);
  if (keyword === "items" && isSchema(value)) return withReferences(value, [...path, 0]);
  if ((keyword === "anyOf" || keyword === "oneOf" || keyword === "allOf") && Array.isArray(value))
    return value.map((one: unknown) => (isSchema(one) ? withReferences(one, path) : one));
  return value;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
