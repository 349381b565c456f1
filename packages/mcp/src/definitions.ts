import { createHash } from "node:crypto";
import {
  getToolSpec,
  isDeeperThan,
  isJsonObject,
  type JsonObject,
  reasonOf,
  type Tool,
  toWellFormed,
} from "@signalbox/agent-core";
import { toolPrefix } from "./types.ts";

/** Requests for resources and prompts that an agent can make. */
export type ContentMethod =
  | "resources/list"
  | "resources/templates/list"
  | "resources/read"
  | "prompts/list"
  | "prompts/get";

/** A tool as described by its server, within limits. */
export interface ToolDescription {
  /** Name for agents. */
  readonly name: string;
  /** Name that the server uses. */
  readonly ownName: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** SHA-256 of everything that a model sees of the tool, in hexadecimal. */
  readonly hash: string;
  /** Set for a tool of ours that reads resources or prompts of the server. */
  readonly content?: ContentMethod;
}

/** The tools of a server, and notes about the omitted ones. */
export interface ToolList {
  readonly tools: readonly ToolDescription[];
  readonly notes: readonly string[];
}

const MAX_TOOLS = 128;
const MAX_DESCRIPTION_CHARS = 1_024;
/** Maximum length of a schema as JSON, in characters. Larger ones would fill the window of a model. */
const MAX_SCHEMA_CHARS = 16_384;
/** Maximum length of a tool name that all vendors accept. */
const MAX_NAME_CHARS = 64;
/** Maximum nesting of a schema, because vendors traverse schemas recursively. */
const MAX_SCHEMA_DEPTH = 64;
const MAX_NOTES = 20;

/**
 * Reads the descriptions of a server's tools. Omits tools that no model can use, and adds a note with the reason.
 *
 * @param content our tools for the server's resources and prompts. A tool of the server with the same name replaces one
 */
export function readToolList(
  server: string,
  listed: readonly unknown[],
  content: readonly ToolDescription[] = [],
): ToolList {
  const tools = new Map<string, ToolDescription>();
  const notes: string[] = [];
  if (listed.length > MAX_TOOLS) notes.push(`only the first ${MAX_TOOLS} of its tools are used`);
  for (const raw of listed.slice(0, MAX_TOOLS)) {
    const read = readTool(server, raw);
    if (typeof read === "string") notes.push(read);
    else if (tools.has(read.name)) notes.push(`a second tool would be called ${read.name}`);
    else tools.set(read.name, read);
  }
  for (const tool of content) if (!tools.has(tool.name)) tools.set(tool.name, tool);
  return { tools: [...tools.values()], notes: [...new Set(notes)].slice(0, MAX_NOTES) };
}

function readTool(server: string, raw: unknown): ToolDescription | string {
  if (!isJsonObject(raw) || typeof raw["name"] !== "string" || raw["name"] === "")
    return "a tool has no name";
  const ownName = raw["name"];
  const name = toAgentName(server, ownName);
  if (isDeeperThan(raw["inputSchema"], MAX_SCHEMA_DEPTH)) return `${name} has a schema that is too deep`;
  // Some servers omit the schema of a tool without parameters.
  const schema = toWellFormed(raw["inputSchema"] ?? {});
  if (!isJsonObject(schema)) return `${name} has no schema`;
  if (JSON.stringify(schema).length > MAX_SCHEMA_CHARS) return `${name} has a schema that is too large`;
  const description = clean(typeof raw["description"] === "string" ? raw["description"] : "");
  const inputSchema = toInputSchema(schema);
  const problem = findProblem({ name, description, inputSchema });
  if (problem !== undefined) return `${name}: ${problem}`;
  const hash = createHash("sha256")
    .update(JSON.stringify([ownName, description, inputSchema]))
    .digest("hex");
  return { name, ownName, description, inputSchema, hash };
}

/** Adds members that some vendors require and some servers omit or set to null. */
function toInputSchema({ $schema: _draft, ...schema }: JsonObject): JsonObject {
  const { type, properties, required, ...rest } = schema;
  return {
    type: type ?? "object",
    properties: properties ?? {},
    ...(required === undefined || required === null ? {} : { required }),
    ...rest,
  };
}

/**
 * Returns the name of a tool for agents. The prefix distinguishes it from the tools of other servers and of the host.
 * If characters had to be replaced or removed, part of the hash keeps the name unique.
 */
function toAgentName(server: string, ownName: string): string {
  const prefix = toolPrefix(server);
  const plain = ownName.replace(/[^a-zA-Z0-9_-]/g, "_");
  if (plain === ownName && prefix.length + plain.length <= MAX_NAME_CHARS) return prefix + plain;
  const mark = createHash("sha256").update(ownName).digest("hex").slice(0, 8);
  return `${prefix}${plain.slice(0, MAX_NAME_CHARS - prefix.length - mark.length - 1)}_${mark}`;
}

/** Returns the reason why the agent loop or a vendor would reject the tool. */
function findProblem(spec: Pick<Tool, "name" | "description" | "inputSchema">): string | undefined {
  try {
    getToolSpec({ ...spec, effects: "external", execute: () => Promise.reject(new Error("only described")) });
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/** Removes invisible characters and those that change the text direction, and truncates the text. */
function clean(text: string): string {
  const visible = text.replace(/(?![\n\t])[\p{Cc}\p{Cf}\p{Co}]/gu, "").trim();
  const short =
    visible.length > MAX_DESCRIPTION_CHARS ? `${visible.slice(0, MAX_DESCRIPTION_CHARS - 1)}…` : visible;
  return short.toWellFormed();
}
