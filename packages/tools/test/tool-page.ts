import { estimateTokens, getToolSpec, isJsonObject, type JsonObject } from "@signalbox/agent-core";
import { TOOL_GROUPS, type ToolDefinition } from "../src/index.ts";
import { TOOL_PROFILES } from "../src/tool-names.ts";
import { type ParameterDoc, type Text, TOOL_DOCS } from "./tool-docs.ts";

export type Language = "en" | "zh";

/** Estimates the tokens that tools add to each request. */
export function estimateToolTokens(tools: readonly ToolDefinition[]): number {
  return tools.reduce((sum, tool) => sum + estimateTokens(JSON.stringify(getSpec(tool))), 0);
}

/** Creates the page about the built-in tools, with a table of parameters for each tool. */
export function createToolPage(tools: readonly ToolDefinition[], language: Language): string {
  const words = WORDS[language];
  const sections = tools.map((tool) => createSection(tool, language));
  const page = [
    words.head,
    createTable(words.groupColumns, TOOL_GROUPS, "group"),
    words.profiles,
    createTable(words.profileColumns, TOOL_PROFILES, "profile"),
    words.effects,
    ...sections,
  ];
  return `${page.join("\n\n")}\n`;
}

/** Returns the names of all parameters of a tool, with members of lists as `list[].member`. */
export function listParameters(tool: ToolDefinition): readonly string[] {
  return findParameters(getSchema(tool)).map(({ name }) => name);
}

function createSection(tool: ToolDefinition, language: Language): string {
  const { name, effects } = tool;
  const doc = TOOL_DOCS[name];
  if (doc === undefined) throw new Error(`tool-docs.ts does not describe ${name}`);
  const words = WORDS[language];
  const groups = Object.keys(TOOL_GROUPS).filter((group) => TOOL_GROUPS[group]?.includes(name) === true);
  const rows = findParameters(getSchema(tool)).map((parameter) =>
    createRow(parameter, doc.parameters[parameter.name], language),
  );
  return [
    `## ${name}`,
    pick(doc.summary, language),
    words.facts(
      effects,
      groups.map((group) => `\`group:${group}\``),
      estimateToolTokens([tool]),
    ),
    [formatRow(words.columns), formatRow(words.columns.map(() => "---")), ...rows].join("\n"),
    words.example,
    `\`\`\`json\n${JSON.stringify(doc.example, undefined, 2)}\n\`\`\``,
  ].join("\n\n");
}

interface Parameter {
  readonly name: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
}

function findParameters(schema: JsonObject, prefix = ""): readonly Parameter[] {
  const { properties, required } = schema;
  if (!isJsonObject(properties)) return [];
  return Object.entries(properties).flatMap(([key, property]): readonly Parameter[] => {
    if (!isJsonObject(property)) return [];
    const name = `${prefix}${key}`;
    const isRequired = Array.isArray(required) && required.includes(key);
    const members = isJsonObject(property.items) ? findParameters(property.items, `${name}[].`) : [];
    return [{ name, schema: property, isRequired }, ...members];
  });
}

function createRow(
  { name, schema, isRequired }: Parameter,
  doc: ParameterDoc | undefined,
  language: Language,
): string {
  if (doc === undefined) throw new Error(`tool-docs.ts does not describe the parameter ${name}`);
  const words = WORDS[language];
  const standard = doc.default === undefined ? "" : pick(doc.default, language);
  const description = [pick(doc.text, language), ...describeLimits(schema, language)].join(words.space);
  return formatRow([
    `\`${name}\``,
    getType(schema, language),
    isRequired ? words.yes : words.no,
    standard,
    description,
  ]);
}

function getType({ type, items }: JsonObject, language: Language): string {
  const { types } = WORDS[language];
  if (type === "array") return isJsonObject(items) && items.type === "object" ? types.objects : types.strings;
  if (type === "string" || type === "integer" || type === "number" || type === "boolean") return types[type];
  return types.any;
}

/** The limit of integers that zod writes into each schema. */
const MAX_INTEGER = Number.MAX_SAFE_INTEGER;

function describeLimits(schema: JsonObject, language: Language): readonly string[] {
  const { limits } = WORDS[language];
  const number = (key: string): number | undefined => {
    const value = schema[key];
    return typeof value === "number" && value !== MAX_INTEGER ? value : undefined;
  };
  const [most, mostItems, leastItems] = [number("maxLength"), number("maxItems"), number("minItems")];
  const [least, max] = [number("minimum"), number("maximum")];
  const texts: string[] = [];
  if (Array.isArray(schema.enum)) texts.push(limits.choices(schema.enum.map((value) => `\`${value}\``)));
  if (most !== undefined) texts.push(limits.characters(format(most)));
  if (mostItems !== undefined) texts.push(limits.items(format(leastItems ?? 0), format(mostItems)));
  if (max !== undefined) texts.push(limits.range(format(least ?? 0), format(max)));
  return texts;
}

function createTable(
  columns: readonly string[],
  lists: Readonly<Record<string, readonly string[]>>,
  kind: string,
): string {
  const rows = Object.entries(lists).map(([name, tools]) =>
    formatRow([`\`${kind}:${name}\``, tools.map((tool) => `\`${tool}\``).join(", ")]),
  );
  return [formatRow(columns), formatRow(columns.map(() => "---")), ...rows].join("\n");
}

function formatRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function format(value: number): string {
  return value.toLocaleString("en-US");
}

function pick(text: string | Text, language: Language): string {
  return typeof text === "string" ? text : text[language === "en" ? 0 : 1];
}

function getSchema(tool: ToolDefinition): JsonObject {
  const { inputSchema } = getSpec(tool);
  return inputSchema;
}

function getSpec(tool: ToolDefinition) {
  return getToolSpec({ ...tool, execute: () => Promise.reject(new Error("not callable")) });
}

const WORDS = {
  en: {
    head: `# Built-in tools

This page lists all tools that an agent can have, with their parameters.

Name an agent's tools in \`tools.allow\`, by name or by group, or choose a profile with \`tools.profile\`. \`tools.deny\` always wins. [\`signalbox can\`](commands/access.md) shows whether a person may use a tool, and which rule decides.

Tools of MCP servers (\`mcp.servers\`) are named \`mcp__<server>__<tool>\`. Tools of packages (\`tools.packages\`) keep their own names.

## Groups and profiles`,
    groupColumns: ["group", "tools"],
    profileColumns: ["profile", "tools"],
    profiles: "A profile is a set of tools for a kind of agent. `tools.allow` adds to it.",
    effects: `## Effects

The effects of a tool decide what happens to a call that a crash interrupted.

| effects | after a crash |
| --- | --- |
| none | The call only reads, so it is repeated. |
| idempotent | A second call leads to the same state, so it is repeated. |
| keyed | The call has a key that prevents a second effect, so it is repeated. |
| external | A second call may have a second effect. The model is informed and decides. |`,
    columns: ["name", "type", "required", "default", "description"],
    yes: "yes",
    no: "no",
    space: " ",
    example: "Example:",
    facts: (effects: string, groups: readonly string[], tokens: number) =>
      `Effects: ${effects}. Groups: ${groups.join(", ")}. About ${tokens} tokens in each request.`,
    types: {
      string: "text",
      integer: "integer",
      number: "number",
      boolean: "boolean",
      strings: "list of texts",
      objects: "list of objects",
      any: "any JSON value",
    },
    limits: {
      choices: (values: readonly string[]) => `One of ${values.join(", ")}.`,
      characters: (max: string) => `At most ${max} characters.`,
      items: (min: string, max: string) =>
        min === "0" ? `At most ${max} items.` : `${min} to ${max} items.`,
      range: (min: string, max: string) => `${min} to ${max}.`,
    },
  },
  zh: {
    head: `# 内置工具

本页列出智能体可以使用的全部内置工具及其参数。

在智能体的 \`tools.allow\` 中按名称或分组列出工具，或用 \`tools.profile\` 选择一个预设。\`tools.deny\` 始终优先。[\`signalbox can\`](commands/access.md) 显示某人能否使用某个工具，以及由哪条规则决定。

MCP 服务器（\`mcp.servers\`）的工具名为 \`mcp__<server>__<tool>\`。工具包（\`tools.packages\`）中的工具沿用自己的名称。

## 分组与预设`,
    groupColumns: ["分组", "工具"],
    profileColumns: ["预设", "工具"],
    profiles: "预设是适合某类智能体的一组工具，`tools.allow` 在此基础上追加。",
    effects: `## 副作用

工具的副作用类型决定调用因崩溃中断后如何处理。

| 类型 | 崩溃之后 |
| --- | --- |
| none | 只读取数据，重新调用。 |
| idempotent | 重复调用结果相同，重新调用。 |
| keyed | 调用带有键，不会重复生效，重新调用。 |
| external | 重复调用可能再次生效，由模型得知后自行决定。 |`,
    columns: ["名称", "类型", "必填", "默认值", "说明"],
    yes: "是",
    no: "否",
    space: "",
    example: "示例：",
    facts: (effects: string, groups: readonly string[], tokens: number) =>
      `副作用：${effects}。分组：${groups.join("、")}。每次请求约占 ${tokens} 个词元。`,
    types: {
      string: "文本",
      integer: "整数",
      number: "数字",
      boolean: "布尔值",
      strings: "文本列表",
      objects: "对象列表",
      any: "任意 JSON 值",
    },
    limits: {
      choices: (values: readonly string[]) => `可选值：${values.join("、")}。`,
      characters: (max: string) => `最多 ${max} 个字符。`,
      items: (min: string, max: string) => (min === "0" ? `最多 ${max} 项。` : `${min} 至 ${max} 项。`),
      range: (min: string, max: string) => `${min} 至 ${max}。`,
    },
  },
};
