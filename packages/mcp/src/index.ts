export { createMcpServers, type McpServers, type McpServersOptions } from "./servers.ts";
export {
  MCP_SERVER_NAME,
  type McpServerSettings,
  type McpServerState,
  type McpServerStatus,
  type McpTool,
  toolPrefix,
} from "./types.ts";
