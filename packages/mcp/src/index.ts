export { createMcpServers, type McpServers } from "./servers.ts";
export {
  type McpCredentialStore,
  type McpCredentials,
  type McpSignIn,
  McpSignInError,
} from "./sign-in/types.ts";
export { type McpDescriptionStore, type McpServerSettings, type McpTool, toolPrefix } from "./types.ts";
