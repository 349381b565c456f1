import { isRaw, type Raw } from "./raw.ts";

/** An error that vendors report for a tool's schema. */
export interface SchemaFault {
  readonly kind: "combinator" | "property_name" | "missing_items" | "invalid";
  /** Path from the root of the schema. */
  readonly path: readonly string[];
}

const TYPES = new Set(["string", "number", "integer", "boolean", "array", "object", "null"]);
const COMBINATORS = ["anyOf", "oneOf", "allOf"];
const SCHEMAS = ["items", "additionalProperties", "not", "if", "then", "else", "contains"];
const SCHEMA_LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"];

/** Returns the errors of a schema, outermost first. */
export function schemaFaults(schema: Raw): SchemaFault[] {
  const top = COMBINATORS.filter((name) => schema[name] !== undefined);
  return [...top.map(() => ({ kind: "combinator", path: [] }) as const), ...faultsIn(schema, [])];
}

function faultsIn(schema: Raw, path: readonly string[]): SchemaFault[] {
  const faults: SchemaFault[] = [];
  const invalid = (): void => void faults.push({ kind: "invalid", path });
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.some((type) => typeof type !== "string" || !TYPES.has(type))) invalid();
  const { properties, required } = schema;
  if (properties !== undefined && !isRaw(properties)) invalid();
  if (
    required !== undefined &&
    !(Array.isArray(required) && required.every((name) => typeof name === "string"))
  )
    invalid();
  for (const bound of ["exclusiveMinimum", "exclusiveMaximum"])
    if (schema[bound] !== undefined && typeof schema[bound] !== "number") invalid();
  if (types.includes("array") && schema.items === undefined && schema.prefixItems === undefined)
    faults.push({ kind: "missing_items", path });
  if (isRaw(properties)) {
    for (const [name, inner] of Object.entries(properties)) {
      if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(name)) faults.push({ kind: "property_name", path });
      if (isRaw(inner)) faults.push(...faultsIn(inner, [...path, "properties", name]));
    }
  }
  for (const key of SCHEMAS) {
    const inner = schema[key];
    if (isRaw(inner)) faults.push(...faultsIn(inner, [...path, key]));
  }
  for (const key of SCHEMA_LISTS) {
    const list = schema[key];
    if (Array.isArray(list))
      for (const [at, inner] of list.entries())
        if (isRaw(inner)) faults.push(...faultsIn(inner, [...path, key, String(at)]));
  }
  return faults;
}
