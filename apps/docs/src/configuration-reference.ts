import type { ChannelDefinition } from "@signalbox/channel";
import { configJsonSchema } from "@signalbox/config";

/** A piece of JSON Schema, as far as the configuration's has it. */
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

/** The page about every setting, made of the schema that also checks the file. */
export function configurationReference(channels: readonly ChannelDefinition[]): string {
  const root: Schema = configJsonSchema(channels);
  const sections = Object.entries(root.properties ?? {}).map(([name, section]) => {
    const rows = rowsOf(name, section, new Set());
    const described = section.description ?? "";
    return [`## ${name}`, ...(described === "" ? [] : [described]), tableOf(rows)].join("\n\n");
  });
  return `${[HEAD, ...sections].join("\n\n")}\n`;
}

/** The settings below a place, each with its whole path. What stands there like at another place is told once. */
function rowsOf(path: string, schema: Schema, told: Set<string>): Row[] {
  const { properties = {}, additionalProperties, items } = schema;
  const inside = Object.entries(properties).flatMap(([name, inner]) => {
    const at = `${path}.${name}`;
    // An agent's own entry takes what the defaults take.
    const shared = at.replace(/^agents\.(defaults|list\[\])\./, "agents.*.");
    if (shared !== at && told.has(shared)) return [];
    told.add(shared);
    return settingAt(shared, inner, told);
  });
  if (typeof additionalProperties === "object" && hasMore(additionalProperties))
    return [...inside, ...settingAt(`${path}.<name>`, additionalProperties, told)];
  if (items !== undefined && hasMore(items)) return [...inside, ...settingAt(`${path}[]`, items, told)];
  return inside;
}

/** A setting, and those below it; what only holds others has a row where something is said of it. */
function settingAt(path: string, schema: Schema, told: Set<string>): Row[] {
  const kinds = kindsOf(schema);
  if (kinds.length > 0) return kinds.flatMap((kind) => settingAt(path, kind, told));
  const below = rowsOf(path, schema, told);
  if (below.length > 0 && schema.description === undefined) return below;
  return [rowOf(path, schema, below.length > 0), ...below];
}

function rowOf(key: string, schema: Schema, holdsOthers: boolean): Row {
  const { description = "", default: byDefault } = schema;
  const isPlain = !holdsOthers && byDefault !== undefined;
  return {
    key,
    values: holdsOthers ? "" : valuesOf(schema),
    defaultValue: isPlain ? `\`${JSON.stringify(byDefault)}\`` : "",
    description,
  };
}

/** Different things that may stand in one place, each with a word about it. */
function kindsOf({ anyOf = [] }: Schema): readonly Schema[] {
  return anyOf.filter(({ properties, description }) => properties !== undefined && description !== undefined);
}

function hasMore(schema: Schema): boolean {
  const { properties, additionalProperties, items, description } = schema;
  if (properties !== undefined || description !== undefined || kindsOf(schema).length > 0) return true;
  return typeof additionalProperties === "object" || (items !== undefined && hasMore(items));
}

/** What a setting may be, in short. */
function valuesOf(schema: Schema): string {
  const { enum: values, const: only, anyOf, oneOf, items, type, properties, additionalProperties } = schema;
  if (only !== undefined) return code(only);
  if (values !== undefined) return values.map(code).join(", ");
  const kinds = anyOf ?? oneOf;
  if (kinds !== undefined) return [...new Set(kinds.map(valuesOf))].join(" or ");
  if (items !== undefined) return `list of ${valuesOf(items)}`;
  if (properties !== undefined) return `\`{ ${Object.keys(properties).join(", ")} }\``;
  if (typeof additionalProperties === "object") return `mapping to ${valuesOf(additionalProperties)}`;
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

function tableOf(rows: readonly Row[]): string {
  const lines = rows.map(({ key, values, defaultValue, description }) =>
    [`\`${key}\``, description, values, defaultValue].map(inCell).join(" | "),
  );
  return [
    "| key | meaning | values | default |",
    "| --- | --- | --- | --- |",
    ...lines.map((line) => `| ${line} |`),
  ].join("\n");
}

function inCell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

const HEAD = `# Configuration

The configuration is one file in the home: \`signalbox.yaml\` (or \`.yml\`, \`.json\`, \`.json5\`). Every setting is optional. This page lists all of them; \`signalbox config schema\` prints the same as JSON Schema for editors. For example:

\`\`\`yaml
models:
  providers:
    anthropic:
      api: anthropic-messages
      apiKey: \${ANTHROPIC_API_KEY}
agents:
  defaults:
    model: anthropic/claude-sonnet-4-6
  list:
    - id: main
    - id: coder
      tools: { profile: coding }
channels:
  telegram:
    accounts:
      main:
        botToken: \${file:secrets/telegram-main-botToken}
bindings:
  - { agent: coder, match: { channel: telegram, peer: { kind: group, id: "-1001234567890" } } }
access:
  owners: ["telegram:5001"]
  groups:
    allow: ["telegram:-1001234567890"]
\`\`\`

## Wrong values

A wrong value disables the part it belongs to: an agent, a binding, an account or a provider. In \`agents.defaults\`, \`session\`, \`access\`, \`links\`, \`replies\`, \`retention\`, \`media\`, \`memory\`, \`tools.web\` and \`skills\` it disables only the one setting. The log names file, line, key and remedy. Everything else starts.

- With a wrong value of \`retention\`, the data it concerns is kept; the default does not apply.
- With a wrong value about who may do what, no one may: \`access.dm\` and \`access.groups.mode\` are then \`off\`, and \`tools\` of \`agents.defaults\` allow nothing.

A warning disables nothing. Something is ignored that has no effect: an unknown key, a binding that never matches, a person without a channel. Or it is advice, such as about a model without stated limits or prices.

\`start --strict\` refuses to start with an error, and with anything that is ignored; advice is only printed. \`config check\` only checks.

## Secrets in the configuration

Keep secrets out of the file:

| write | to take |
| --- | --- |
| \`\${NAME}\`, \`\${NAME:-text}\` | an environment variable; the second has a default |
| \`\${file:path}\`, or \`{ file: path }\` where a secret may stand | the text of a file |
| \`{ command: [program, argument] }\` where a secret may stand | the output of a program |

A secret that cannot be read disables the part that uses it, as a wrong value does.

## Changing it

\`signalbox config set\` and \`config unset\` change the file and keep its comments and order. They refuse a change that adds a mistake. They warn if the value names a tool, a model or a package that does not exist, and if the change removes something that another place needs, such as the provider of an agent's model. \`config unset\` also removes a section that it leaves empty, if that changes nothing. The last 20 versions are kept (\`config history\`, \`config rollback\`).

The gateway reads the file again when it changes, and at SIGHUP. [Operations](operations.md#changing-the-configuration) says what applies at once.

> Generated from the schema. To update it, run \`UPDATE_DOCS=1 pnpm exec vitest run --project @signalbox/docs\`.`;
