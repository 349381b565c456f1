import type { JsonObject, JsonValue } from "../json.ts";
import { add, type Check, canonical, isJsonObject, number, strings } from "./issues.ts";
import { compilePattern } from "./pattern.ts";

export function pushType(schema: JsonObject, checks: Check[]): void {
  const types = typeof schema.type === "string" ? [schema.type] : strings(schema.type);
  if (types.length === 0) return;
  // OpenAPI 3.0 writes an optional null this way, and MCP servers pass it on.
  if (schema.nullable === true) types.push("null");
  const [only] = types;
  const wanted = types.join(" or ");
  checks.push((value, path, issues) => {
    const fits =
      types.length === 1 && only !== undefined ? isOf(value, only) : types.some((type) => isOf(value, type));
    if (!fits) add(issues, path, `must be ${wanted}, not ${typeName(value)}`);
  });
}

export function pushValues(schema: JsonObject, checks: Check[]): void {
  if (Array.isArray(schema.enum)) {
    const values: readonly JsonValue[] = schema.enum;
    const allowed = new Set(values.map(canonical));
    const shown = values.slice(0, 20).map(canonical).join(", ");
    checks.push((value, path, issues) => {
      if (!allowed.has(canonical(value))) add(issues, path, `must be one of ${shown}`);
    });
  }
  if (schema.const !== undefined) {
    const wanted = canonical(schema.const);
    checks.push((value, path, issues) => {
      if (canonical(value) !== wanted) add(issues, path, `must be ${wanted}`);
    });
  }
}

export function pushNumber(schema: JsonObject, checks: Check[]): void {
  const min = number(schema.minimum);
  const max = number(schema.maximum);
  const above = number(schema.exclusiveMinimum);
  const below = number(schema.exclusiveMaximum);
  const step = number(schema.multipleOf);
  if ([min, max, above, below, step].every((bound) => bound === undefined)) return;
  checks.push((value, path, issues) => {
    if (typeof value !== "number") return;
    if (min !== undefined && value < min) add(issues, path, `must be at least ${min}`);
    if (max !== undefined && value > max) add(issues, path, `must be at most ${max}`);
    if (above !== undefined && value <= above) add(issues, path, `must be more than ${above}`);
    if (below !== undefined && value >= below) add(issues, path, `must be less than ${below}`);
    if (step !== undefined && step > 0) {
      const parts = value / step;
      // Decimal steps such as 0.01 are not exact in binary.
      if (Math.abs(parts - Math.round(parts)) > 1e-9 * Math.max(1, Math.abs(parts))) {
        add(issues, path, `must be a multiple of ${step}`);
      }
    }
  });
}

export function pushString(schema: JsonObject, checks: Check[]): void {
  const min = number(schema.minLength);
  const max = number(schema.maxLength);
  const pattern = typeof schema.pattern === "string" ? compilePattern(schema.pattern) : undefined;
  if (min === undefined && max === undefined && pattern === undefined) return;
  checks.push((value, path, issues) => {
    if (typeof value !== "string") return;
    if (min !== undefined || max !== undefined) {
      const length = codePoints(value);
      if (min !== undefined && length < min) add(issues, path, `must have at least ${min} characters`);
      if (max !== undefined && length > max) add(issues, path, `must have at most ${max} characters`);
    }
    if (pattern && !pattern.test(value)) add(issues, path, `must match ${pattern.source}`);
  });
}

function isOf(value: unknown, type: string): boolean {
  switch (type) {
    case "string":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "integer":
      return typeof value === "number" && Number.isInteger(value);
    case "boolean":
      return typeof value === "boolean";
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isJsonObject(value);
    default:
      return true;
  }
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
