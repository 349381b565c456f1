import type { OutputUnit } from "@cfworker/json-schema";
import { isJsonObject } from "../json.ts";

/** One thing that is wrong with a value. `path` is a JSON pointer, empty for the value itself. */
export interface SchemaIssue {
  readonly path: string;
  readonly message: string;
}

/** More than a model can use at once. */
const MAX_ISSUES = 12;

/** Keywords whose failure is told by what failed inside them. */
const WRAPPERS = new Set(
  `$ref allOf if properties patternProperties additionalProperties unevaluatedProperties propertyNames dependentSchemas
  prefixItems items unevaluatedItems`.split(/\s+/),
);

/** Finds the part of a schema that a validator's keyword location, such as `#/properties/a/type`, leads to. */
export type SchemaAt = (keywordLocation: string) => unknown;

/** A validator's failures in terms a model can act on: where, and what instead. */
export function issuesOf(units: readonly OutputUnit[], schemaAt: SchemaAt): SchemaIssue[] {
  const issues: SchemaIssue[] = [];
  let at = 0;
  while (at < units.length && issues.length < MAX_ISSUES) {
    const unit = units[at++];
    if (unit === undefined) break;
    if (unit.keyword === "anyOf" || unit.keyword === "oneOf") {
      const end = endOfInner(units, at, unit);
      issues.push(...alternativesIssues(unit, units.slice(at, end), schemaAt));
      at = end;
    } else if (unit.keyword === "false") {
      issues.push({ path: pathOf(unit), message: refusal(units[at - 2], schemaAt) });
    } else if (!WRAPPERS.has(unit.keyword)) {
      issues.push(leafIssue(unit, schemaAt));
    }
  }
  return issues.slice(0, MAX_ISSUES);
}

/** The alternative that came furthest is the one that was meant. */
function alternativesIssues(unit: OutputUnit, inner: OutputUnit[], schemaAt: SchemaAt): SchemaIssue[] {
  const path = pathOf(unit);
  if (unit.keyword === "oneOf" && !unit.error.endsWith("(0 matches).")) {
    return [{ path, message: "fits more than one of the alternatives" }];
  }
  let best: SchemaIssue[] = [];
  for (let from = 0, to = 0; from < inner.length; from = to) {
    const branch = branchOf(inner[from], unit);
    do to++;
    while (to < inner.length && (inner[to]?.keyword === "false" || branchOf(inner[to], unit) === branch));
    const issues = issuesOf(inner.slice(from, to), schemaAt);
    if (depthOf(issues) > depthOf(best)) best = issues;
  }
  if (depthOf(best) > path.length) return best;
  return [{ path, message: best.map(({ message }) => message).join("; ") }];
}

/** Where the failures inside of `unit` end. A schema of `false` is located by the value and not by the schema. */
function endOfInner(units: readonly OutputUnit[], from: number, unit: OutputUnit): number {
  const inside = `${unit.keywordLocation}/`;
  const isInside = (inner: OutputUnit | undefined): boolean =>
    inner?.keyword === "false" || inner?.keywordLocation.startsWith(inside) === true;
  let end = from;
  while (isInside(units[end])) end++;
  return end;
}

function branchOf(inner: OutputUnit | undefined, unit: OutputUnit): string {
  return inner?.keywordLocation.slice(unit.keywordLocation.length + 1).split("/", 1)[0] ?? "";
}

function depthOf(issues: readonly SchemaIssue[]): number {
  return Math.max(-1, ...issues.map(({ path }) => path.length));
}

function pathOf({ instanceLocation }: OutputUnit): string {
  return instanceLocation.slice(1);
}

/** What a schema of `false` says of a value, by the keyword it stands under. */
function refusal(wrapper: OutputUnit | undefined, schemaAt: SchemaAt): string {
  if (wrapper?.keyword !== "additionalProperties" && wrapper?.keyword !== "unevaluatedProperties") {
    return "is not allowed";
  }
  const parent = schemaAt(wrapper.keywordLocation.slice(0, wrapper.keywordLocation.lastIndexOf("/")));
  const names = isJsonObject(parent) && isJsonObject(parent.properties) ? Object.keys(parent.properties) : [];
  if (names.length === 0) return "is not a known property";
  return `is not a known property; there are ${names.join(", ")}`;
}

const MISSING = /required property "([\s\S]*)"\.$/;

/**
 * What a failed keyword says in the validator's words, which do not point to a property that is missing, nor name the
 * pattern that a text does not match.
 */
function leafIssue(unit: OutputUnit, schemaAt: SchemaAt): SchemaIssue {
  const path = pathOf(unit);
  const [, missing] = MISSING.exec(unit.error) ?? [];
  if (missing !== undefined) {
    return { path: `${path}/${missing.replaceAll("~", "~0").replaceAll("/", "~1")}`, message: "is missing" };
  }
  const pattern = unit.keyword === "pattern" ? schemaAt(unit.keywordLocation) : undefined;
  return { path, message: !pattern ? unit.error : `String does not match ${pattern}.` };
}

/** The keys of a JSON pointer. */
export function pointerKeys(path: string): string[] {
  const [, ...keys] = path.split("/");
  return keys.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** As lines for the model. */
export function issueLines(issues: readonly SchemaIssue[]): string {
  return issues
    .slice(0, MAX_ISSUES)
    .map(({ path, message }) => `- ${path === "" ? "the arguments" : path}: ${message}`)
    .join("\n");
}
