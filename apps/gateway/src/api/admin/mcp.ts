import { type AdminService, ApiError } from "@signalbox/server";
import { allowsTool, escapeInvisible, escapeLine } from "@signalbox/tools";
import { namesServer } from "../../agent/additional-tools.ts";
import { getChanges, getServerPlace } from "../../agent/mcp-changes.ts";
import type { GatewayContext } from "../../context.ts";

type McpAdmin = Pick<AdminService, "mcpTools" | "acceptMcpTools">;

/** Lists the tools of MCP servers, and accepts changed descriptions. */
export function createMcpAdmin({ config, mcp, audit }: GatewayContext): McpAdmin {
  return {
    async mcpTools(server, isStarting) {
      const { settings, agents } = config.current();
      const entry = Object.hasOwn(settings.mcp.servers, server) ? settings.mcp.servers[server] : undefined;
      if (entry === undefined) throw new ApiError("not_found", `There is no MCP server ${server}.`);
      const isRunning = mcp.status().some(({ name, state }) => name === server && state === "ready");
      const tools = isStarting || isRunning ? await mcp.tools((_, name) => name === server) : [];
      const [changes] = getChanges(tools);
      return {
        at: escapeLine(getServerPlace(entry)),
        agents: agents.all.filter((agent) => namesServer(agent.tools.allow, server)).map(({ id }) => id),
        tools: tools.map((tool) => ({
          name: escapeLine(tool.name),
          description: escapeInvisible(tool.description),
          schema: tool.changed ? escapeInvisible(JSON.stringify(tool.inputSchema, null, 2)) : undefined,
          agents: agents.all.filter((agent) => allowsTool(agent.tools, tool.name)).map(({ id }) => id),
          changed: tool.changed,
        })),
        changes: changes?.hash,
      };
    },
    async acceptMcpTools(server, changes, actor) {
      const tools = await mcp.tools((_, name) => name === server);
      const wanted = getChanges(tools).find((each) => each.hash === changes);
      if (wanted === undefined)
        throw new ApiError("not_found", `The MCP server ${server} has no changes with this hash.`, {
          remedy: "Load the list again: the descriptions may have changed.",
        });
      await mcp.accept(wanted.tools);
      const names = wanted.tools.map(({ name }) => name).join(", ");
      const details = { hash: changes, tools: names };
      audit.operation({ action: "accepted", subject: `MCP server: ${server}`, details }, actor);
    },
  };
}
