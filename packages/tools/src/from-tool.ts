import type { Tool } from "@signalbox/agent-core";
import { defineTool, type ToolDefinition } from "./define.ts";
import type { TaintSource } from "./types.ts";

export interface FromToolOptions {
  /** What its results, failures too, bring into a run. Default: nothing. */
  readonly taints?: TaintSource;
}

/** What a tool may take that says nothing of it, in milliseconds. */
const TIMEOUT_MS = 120_000;
/** What every vendor takes for the name of a tool. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * Puts another tool, of a plugin or an MCP server, behind the gate: its body is reached in the same way as those of the
 * built-in tools, and ends in time.
 * @throws TypeError for what is not a tool
 */
export function fromTool(tool: Tool, { taints }: FromToolOptions = {}): ToolDefinition {
  if (!isTool(tool))
    throw new TypeError("that is not a tool: it needs a name, a description, a schema and a body");
  const { name, description, inputSchema, effects, execution, truncate } = tool;
  return defineTool({
    name,
    description,
    inputSchema,
    effects,
    ...(execution === undefined ? {} : { execution }),
    ...(truncate === undefined ? {} : { truncate }),
    ...(taints === undefined ? {} : { taints }),
    timeoutMs: tool.timeoutMs ?? TIMEOUT_MS,
    run: (call, context) => tool.execute(call, context),
  });
}

/** Whether a value that a package exports is a tool. */
export function isTool(value: unknown): value is Tool {
  if (typeof value !== "object" || value === null) return false;
  const of = (key: string): unknown => Reflect.get(value, key);
  return (
    typeof of("name") === "string" &&
    TOOL_NAME.test(String(of("name"))) &&
    typeof of("description") === "string" &&
    ((typeof of("inputSchema") === "object" && of("inputSchema") !== null) ||
      // Some libraries' schemas are functions.
      typeof of("inputSchema") === "function") &&
    ["none", "idempotent", "keyed", "external"].includes(String(of("effects"))) &&
    typeof of("execute") === "function"
  );
}
