import { createHash } from "node:crypto";
import {
  isDeeperThan,
  isJsonObject,
  type JsonObject,
  reasonOf,
  type Tool,
  toolSpec,
  toWellFormed,
} from "@signalbox/agent-core";
import { toolPrefix } from "./types.ts";

/** A tool as its server describes it, within bounds. */
export interface ToolDescription {
  /** As agents see it. */
  readonly name: string;
  /** As the server knows it. */
  readonly ownName: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** Of everything a model is shown of it. */
  readonly hash: string;
}

/** A server's list, and what of it cannot be used. */
export interface ToolList {
  readonly tools: readonly ToolDescription[];
  readonly notes: readonly string[];
}

const MAX_TOOLS = 128;
const MAX_DESCRIPTION_CHARS = 1_024;
/** Of one schema as JSON; larger ones fill the window of a model. */
const MAX_SCHEMA_CHARS = 16_384;
/** What every vendor takes for the name of a tool. */
const MAX_NAME_CHARS = 64;
/** What walks a schema by recursion, a vendor's server too, has to come back. */
const MAX_SCHEMA_DEPTH = 64;
const MAX_NOTES = 20;

/** Reads what a server says of its tools. What a model could not be shown, or not without harm, is left out by name. */
export function readToolList(server: string, listed: readonly unknown[]): ToolList {
  const tools = new Map<string, ToolDescription>();
  const notes: string[] = [];
  if (listed.length > MAX_TOOLS) notes.push(`only the first ${MAX_TOOLS} of its tools are used`);
  for (const raw of listed.slice(0, MAX_TOOLS)) {
    const read = readTool(server, raw);
    if (typeof read === "string") notes.push(read);
    else if (tools.has(read.name)) notes.push(`a second tool would be called ${read.name}`);
    else tools.set(read.name, read);
  }
  return { tools: [...tools.values()], notes: notes.slice(0, MAX_NOTES) };
}

function readTool(server: string, raw: unknown): ToolDescription | string {
  if (!isJsonObject(raw) || typeof raw["name"] !== "string" || raw["name"] === "")
    return "a tool has no name";
  const ownName = raw["name"];
  const name = agentName(server, ownName);
  if (isDeeperThan(raw["inputSchema"], MAX_SCHEMA_DEPTH)) return `${name} has a schema that is too deep`;
  const schema = toWellFormed(raw["inputSchema"]);
  if (!isJsonObject(schema)) return `${name} has no schema`;
  if (JSON.stringify(schema).length > MAX_SCHEMA_CHARS) return `${name} has a schema that is too large`;
  const description = readable(typeof raw["description"] === "string" ? raw["description"] : "");
  const { $schema: _draft, ...rest } = schema;
  // Servers leave out what some vendors ask for.
  const inputSchema = { properties: {}, ...rest };
  const fault = faultOf({ name, description, inputSchema });
  if (fault !== undefined) return `${name}: ${fault}`;
  const hash = createHash("sha256")
    .update(JSON.stringify([ownName, description, inputSchema]))
    .digest("hex");
  return { name, ownName, description, inputSchema, hash };
}

/**
 * The name under which agents see a tool: with its server's before it, so that it can neither be taken for another's
 * nor for one of the gateway's own. Where letters had to be changed or cut, a part of its hash keeps it apart.
 */
function agentName(server: string, ownName: string): string {
  const prefix = toolPrefix(server);
  const plain = ownName.replace(/[^a-zA-Z0-9_-]/g, "_");
  if (plain === ownName && prefix.length + plain.length <= MAX_NAME_CHARS) return prefix + plain;
  const mark = createHash("sha256").update(ownName).digest("hex").slice(0, 8);
  return `${prefix}${plain.slice(0, MAX_NAME_CHARS - prefix.length - mark.length - 1)}_${mark}`;
}

/** Why the loop or a vendor could not take it. */
function faultOf(spec: Pick<Tool, "name" | "description" | "inputSchema">): string | undefined {
  try {
    toolSpec({ ...spec, effects: "external", execute: () => Promise.reject(new Error("only described")) });
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/** Without characters that nobody sees or that turn the order of text, and no longer than a model needs. */
function readable(text: string): string {
  const seen = text.replace(/(?![\n\t])[\p{Cc}\p{Cf}\p{Co}]/gu, "").trim();
  const cut = seen.length > MAX_DESCRIPTION_CHARS ? `${seen.slice(0, MAX_DESCRIPTION_CHARS - 1)}…` : seen;
  return cut.toWellFormed();
}
