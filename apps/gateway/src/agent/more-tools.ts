import { type McpServers, type McpTool, toolPrefix } from "@signalbox/mcp";
import { allowsTool, fromTool, type MoreTools, matchesAny } from "@signalbox/tools";
import type { Agent } from "../configure/agents.ts";
import type { CoreContext } from "../core-context.ts";

/** The tools of an agent that are not built in, as they are just now. */
export type MoreToolsOf = (agent: Agent) => Promise<MoreTools>;

/** Only servers are asked whose tools the agent's list names. */
export function createMoreTools({ config }: CoreContext, servers: McpServers): MoreToolsOf {
  return async ({ tools: { allow, ...rule } }) => {
    const wants = (_: string, server: string): boolean => namesServer(allow, server);
    const ofServers = (await servers.tools(wants)).filter(({ name }) => allowsTool({ ...rule, allow }, name));
    return {
      tools: [
        ...config.current().plugins.tools.map((tool) => fromTool(tool)),
        ...ofServers.map((tool) => fromTool(tool, { taints: "mcp" })),
      ],
      // Whoever configured a server has looked at what it said of its tools then, not at what it says of them now.
      taint: changedServers(ofServers).map((server) => ({
        source: "mcp",
        detail: `what ${toolPrefix(server)} says of its tools`,
      })),
    };
  };
}

/** Whether a list of tools may name those of a server. */
export function namesServer(allow: readonly string[], server: string): boolean {
  const prefix = toolPrefix(server);
  return allow.some((name) => name.startsWith(prefix) || matchesAny([name], prefix));
}

function changedServers(tools: readonly McpTool[]): readonly string[] {
  return [...new Set(tools.filter(({ changed }) => changed).map(({ server }) => server))];
}
