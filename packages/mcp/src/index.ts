export { createMcpServers, type McpServers } from "./servers.ts";
export { type McpDescriptionStore, type McpServerSettings, type McpTool, toolPrefix } from "./types.ts";
