import type { Tool } from "@signalbox/agent-core";
import { defineTool, type ToolDefinition } from "./define.ts";
import type { TaintSource } from "./types.ts";

export interface FromToolOptions {
  /** Taints the run after each call, including failed ones. Default: results are trusted. */
  readonly taints?: TaintSource;
}

/** Time limit for tools that do not set one, in milliseconds. */
const TIMEOUT_MS = 120_000;
/** Matches tool names that every vendor accepts. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * Wraps a tool of `@signalbox/agent-core`, for example from a plugin or an MCP server, so that a tool runner decides
 * about its calls.
 *
 * @throws TypeError if the value is not a tool
 */
export function fromTool(tool: Tool, { taints }: FromToolOptions = {}): ToolDefinition {
  if (!isTool(tool))
    throw new TypeError("a tool needs `name`, `description`, `inputSchema`, `effects` and `execute`");
  const { name, description, inputSchema, effects, execution, truncate } = tool;
  return defineTool({
    name,
    description,
    inputSchema,
    effects,
    execution,
    truncate,
    taints,
    timeoutMs: tool.timeoutMs ?? TIMEOUT_MS,
    run: (call, context) => tool.execute(call, context),
  });
}

/** Returns true if a value, such as an export of a plugin, is a tool. */
export function isTool(value: unknown): value is Tool {
  if (typeof value !== "object" || value === null) return false;
  const get = (key: string): unknown => Reflect.get(value, key);
  const schema = get("inputSchema");
  return (
    typeof get("name") === "string" &&
    TOOL_NAME.test(String(get("name"))) &&
    typeof get("description") === "string" &&
    // The schemas of some libraries are functions.
    ((typeof schema === "object" && schema !== null) || typeof schema === "function") &&
    ["none", "idempotent", "keyed", "external"].includes(String(get("effects"))) &&
    typeof get("execute") === "function"
  );
}
