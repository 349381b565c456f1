import type { OutputUnit } from "@cfworker/json-schema";
import { isJsonObject } from "../json.ts";

/**
 * One violation of a schema. `path` is a JSON pointer to the invalid value. It is empty for the arguments as a whole.
 */
export interface SchemaIssue {
  readonly path: string;
  readonly message: string;
}

/** Maximum number of reported issues. A model cannot handle more at a time. */
const MAX_ISSUES = 12;

/** Keywords that fail only because a nested schema failed. The nested failure is reported instead. */
const WRAPPERS = new Set(
  `$ref allOf if properties patternProperties additionalProperties unevaluatedProperties propertyNames dependentSchemas
  prefixItems items unevaluatedItems`.split(/\s+/),
);

/** Returns the subschema or value at a keyword location such as `#/properties/a/type`. */
export type SchemaAt = (keywordLocation: string) => unknown;

/** Converts the output of the validator to issues that a model can act on. */
export function findIssues(units: readonly OutputUnit[], schemaAt: SchemaAt): SchemaIssue[] {
  const issues: SchemaIssue[] = [];
  let at = 0;
  while (at < units.length && issues.length < MAX_ISSUES) {
    const unit = units[at++];
    if (unit === undefined) break;
    if (unit.keyword === "anyOf" || unit.keyword === "oneOf") {
      const end = findEnd(units, at, unit);
      issues.push(...findAlternativeIssues(unit, units.slice(at, end), schemaAt));
      at = end;
    } else if (unit.keyword === "false") {
      issues.push({ path: getPath(unit), message: falseSchemaMessage(units[at - 2], schemaAt) });
    } else if (!WRAPPERS.has(unit.keyword)) {
      issues.push(createIssue(unit, schemaAt));
    }
  }
  return issues.slice(0, MAX_ISSUES);
}

/** Reports the alternative that failed at the deepest path, since it is probably the intended one. */
function findAlternativeIssues(unit: OutputUnit, inner: OutputUnit[], schemaAt: SchemaAt): SchemaIssue[] {
  const path = getPath(unit);
  if (unit.keyword === "oneOf" && !unit.error.endsWith("(0 matches).")) {
    return [{ path, message: "fits more than one of the alternatives" }];
  }
  let best: SchemaIssue[] = [];
  for (let from = 0, to = 0; from < inner.length; from = to) {
    const branch = getBranch(inner[from], unit);
    do to++;
    while (to < inner.length && (inner[to]?.keyword === "false" || getBranch(inner[to], unit) === branch));
    const issues = findIssues(inner.slice(from, to), schemaAt);
    if (getDepth(issues) > getDepth(best)) best = issues;
  }
  if (getDepth(best) > path.length) return best;
  return [{ path, message: best.map(({ message }) => message).join("; ") }];
}

/**
 * Returns the index after the failures nested in `unit`. A failure of a `false` schema is identified by its instance
 * location, not by its keyword location.
 */
function findEnd(units: readonly OutputUnit[], from: number, unit: OutputUnit): number {
  const inside = `${unit.keywordLocation}/`;
  const isInside = (inner: OutputUnit | undefined): boolean =>
    inner?.keyword === "false" || inner?.keywordLocation.startsWith(inside) === true;
  let end = from;
  while (isInside(units[end])) end++;
  return end;
}

function getBranch(inner: OutputUnit | undefined, unit: OutputUnit): string {
  return inner?.keywordLocation.slice(unit.keywordLocation.length + 1).split("/", 1)[0] ?? "";
}

function getDepth(issues: readonly SchemaIssue[]): number {
  return Math.max(-1, ...issues.map(({ path }) => path.length));
}

function getPath({ instanceLocation }: OutputUnit): string {
  return instanceLocation.slice(1);
}

/** Explains a `false` schema based on the keyword that contains it. */
function falseSchemaMessage(wrapper: OutputUnit | undefined, schemaAt: SchemaAt): string {
  if (wrapper?.keyword !== "additionalProperties" && wrapper?.keyword !== "unevaluatedProperties") {
    return "is not allowed";
  }
  const parent = schemaAt(wrapper.keywordLocation.slice(0, wrapper.keywordLocation.lastIndexOf("/")));
  const names = isJsonObject(parent) && isJsonObject(parent.properties) ? Object.keys(parent.properties) : [];
  if (names.length === 0) return "is not a known property";
  return `is not a known property; the properties are: ${names.join(", ")}`;
}

const MISSING = /required property "([\s\S]*)"\.$/;

/**
 * Uses the validator's message, except for a missing property, whose path it does not report, and for a pattern, which
 * it does not quote.
 */
function createIssue(unit: OutputUnit, schemaAt: SchemaAt): SchemaIssue {
  const path = getPath(unit);
  const [, missing] = MISSING.exec(unit.error) ?? [];
  if (missing !== undefined) {
    return { path: `${path}/${missing.replaceAll("~", "~0").replaceAll("/", "~1")}`, message: "is missing" };
  }
  const pattern = unit.keyword === "pattern" ? schemaAt(unit.keywordLocation) : undefined;
  return { path, message: !pattern ? unit.error : `String does not match ${pattern}.` };
}

/** Splits a JSON pointer into its keys. */
export function getPointerKeys(path: string): string[] {
  const [, ...keys] = path.split("/");
  return keys.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Formats issues for the model, one per line. */
export function formatIssues(issues: readonly SchemaIssue[]): string {
  return issues
    .slice(0, MAX_ISSUES)
    .map(({ path, message }) => `- ${path === "" ? "the arguments" : path}: ${message}`)
    .join("\n");
}
