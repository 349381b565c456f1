import { type McpServers, type McpTool, toolPrefix } from "@signalbox/mcp";
import { allowsTool, fromTool, type MoreTools, matchesAny } from "@signalbox/tools";
import type { Agent } from "../configure/agents.ts";
import type { CoreContext } from "../core-context.ts";

/** Returns the agent's tools that are not built in, as of the time of the call. */
export type GetAdditionalTools = (agent: Agent) => Promise<MoreTools>;

/** Starts only servers whose tools may occur in the agent's list. */
export function createAdditionalTools({ config }: CoreContext, servers: McpServers): GetAdditionalTools {
  return async ({ tools: { allow, ...rule } }) => {
    const wants = (_: string, server: string): boolean => namesServer(allow, server);
    const ofServers = (await servers.tools(wants)).filter(({ name }) => allowsTool({ ...rule, allow }, name));
    return {
      tools: [
        ...config.current().plugins.tools.map((tool) => fromTool(tool)),
        ...ofServers.map((tool) => fromTool(tool, { taints: "mcp" })),
      ],
      // The operator reviewed the tool descriptions when the server was configured, not the current ones.
      taint: changedServers(ofServers).map((server) => ({
        source: "mcp",
        detail: `tool descriptions of ${toolPrefix(server)}`,
      })),
    };
  };
}

/** Returns true if a list of tool names can match the server's tools. */
export function namesServer(allow: readonly string[], server: string): boolean {
  const prefix = toolPrefix(server);
  return allow.some((name) => name.startsWith(prefix) || matchesAny([name], prefix));
}

function changedServers(tools: readonly McpTool[]): readonly string[] {
  return [...new Set(tools.filter(({ changed }) => changed).map(({ server }) => server))];
}
