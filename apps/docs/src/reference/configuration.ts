import type { ChannelDefinition } from "@signalbox/channel";
import { configJsonSchema } from "@signalbox/config";

/** A JSON Schema, as far as the schema of the configuration uses it. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly required?: readonly string[];
}

interface Row {
  readonly key: string;
  readonly values: string;
  readonly defaultValue: string;
  readonly description: string;
}

/** Creates the page about every setting from the schema that validates the file. */
export function createConfigurationPage(channels: readonly ChannelDefinition[]): string {
  const root: Schema = configJsonSchema(channels);
  const sections = Object.entries(root.properties ?? {}).map(([name, section]) => {
    const rows = listSettings(name, section, new Set());
    const described = section.description ?? "";
    return [`## ${name}`, ...(described === "" ? [] : [described]), createTable(rows)].join("\n\n");
  });
  return `${[HEAD, ...sections].join("\n\n")}\n`;
}

/** Lists the settings below a path. Settings that two paths share are listed once. */
function listSettings(path: string, schema: Schema, seen: Set<string>): Row[] {
  const { properties = {}, additionalProperties, items } = schema;
  const inside = Object.entries(properties).flatMap(([name, inner]) => {
    const at = `${path}.${name}`;
    // Entries of `agents.list` accept the settings of `agents.defaults`.
    const shared = at.replace(/^agents\.(defaults|list\[\])\./, "agents.*.");
    if (shared !== at && seen.has(shared)) return [];
    seen.add(shared);
    return describeSetting(shared, inner, seen);
  });
  if (typeof additionalProperties === "object" && hasMore(additionalProperties))
    return [...inside, ...describeSetting(`${path}.<name>`, additionalProperties, seen)];
  if (items !== undefined && hasMore(items)) return [...inside, ...describeSetting(`${path}[]`, items, seen)];
  return inside;
}

/** Lists a setting and those below it. A section has a row only if it has a description. */
function describeSetting(path: string, schema: Schema, seen: Set<string>): Row[] {
  const kinds = getAlternatives(schema);
  if (kinds.length > 0) return kinds.flatMap((kind) => describeSetting(path, kind, seen));
  const below = listSettings(path, schema, seen);
  if (below.length > 0 && schema.description === undefined) return below;
  return [createRow(path, schema, below.length > 0), ...below];
}

function createRow(key: string, schema: Schema, isSection: boolean): Row {
  const { description = "", default: byDefault } = schema;
  const isPlain = !isSection && byDefault !== undefined;
  return {
    key,
    values: isSection ? "" : formatValues(schema),
    defaultValue: isPlain ? `\`${JSON.stringify(byDefault)}\`` : "",
    description,
  };
}

/** Returns the alternatives of a setting that have descriptions. */
function getAlternatives({ anyOf = [] }: Schema): readonly Schema[] {
  return anyOf.filter(({ properties, description }) => properties !== undefined && description !== undefined);
}

function hasMore(schema: Schema): boolean {
  const { properties, additionalProperties, items, description } = schema;
  if (properties !== undefined || description !== undefined || getAlternatives(schema).length > 0)
    return true;
  return typeof additionalProperties === "object" || (items !== undefined && hasMore(items));
}

/** Describes the accepted values of a setting. */
function formatValues(schema: Schema): string {
  const { enum: values, const: only, anyOf, oneOf, items, type, properties, additionalProperties } = schema;
  if (only !== undefined) return code(only);
  if (values !== undefined) return values.map(code).join(", ");
  const kinds = anyOf ?? oneOf;
  if (kinds !== undefined) return [...new Set(kinds.map(formatValues))].join(" or ");
  if (items !== undefined) return `list of ${formatValues(items)}`;
  if (properties !== undefined) return `\`{ ${Object.keys(properties).join(", ")} }\``;
  if (typeof additionalProperties === "object") return `mapping to ${formatValues(additionalProperties)}`;
  return NAMES[type ?? ""] ?? "anything";
}

const NAMES: Readonly<Record<string, string>> = {
  string: "text",
  integer: "whole number",
  number: "number",
  boolean: "`true`, `false`",
  object: "mapping",
  array: "list",
};

function code(value: unknown): string {
  return `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}

function createTable(rows: readonly Row[]): string {
  const lines = rows.map(({ key, values, defaultValue, description }) =>
    [`\`${key}\``, description, values, defaultValue].map(escapeCell).join(" | "),
  );
  return [
    "| key | meaning | values | default |",
    "| --- | --- | --- | --- |",
    ...lines.map((line) => `| ${line} |`),
  ].join("\n");
}

function escapeCell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

const HEAD = `# Configuration

This page lists every setting of \`signalbox.yaml\`. All are optional. [Configure](guides/configuration.md) explains the file, its secrets and how to change it. \`signalbox config schema\` prints the same as JSON Schema for editors.

> Generated from the schema.`;
