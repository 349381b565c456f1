import * as z from "zod/mini";

/** A tool of an MCP server. */
export const McpToolInfo = z.object({
  /** Name as agents see it. */
  name: z.string(),
  /** The server's description. An escape such as `\u{202e}` replaces each invisible or misleading character. */
  description: z.string(),
  /** JSON Schema of the arguments, as text with the same escapes. Present if the tool has changed. */
  schema: z.optional(z.string()),
  /** The agents whose policy allows it. */
  agents: z.array(z.string()),
  /** True if it is new, or if its description or schema differs from the accepted one. */
  changed: z.boolean(),
});
export type McpToolInfo = z.infer<typeof McpToolInfo>;

/** Query of `GET /api/mcp/:name/tools`. */
export const McpToolQuery = z.object({
  /** `1` starts the server if it is not running. Requires the scope `owner`. */
  start: z.optional(z.literal("1")),
});
export type McpToolQuery = z.infer<typeof McpToolQuery>;

/** Response of `GET /api/mcp/:name/tools`. */
export const McpToolList = z.object({
  /** Its program or the origin of its address, without arguments that may contain secrets. */
  at: z.string(),
  /** Agents whose tool list can contain its tools. */
  agents: z.array(z.string()),
  /** Empty unless the server is running. */
  tools: z.array(McpToolInfo),
  /** Digest of the changed tools. Send it back to accept exactly these. */
  changes: z.optional(z.string()),
});
export type McpToolList = z.infer<typeof McpToolList>;

/** Body of `POST /api/mcp/:name/accept`: accepts the current descriptions of a server's tools. */
export const McpAcceptance = z.strictObject({ changes: z.string().check(z.minLength(1)) });
export type McpAcceptance = z.infer<typeof McpAcceptance>;
