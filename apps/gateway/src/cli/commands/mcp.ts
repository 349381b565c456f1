import { GatewayError } from "@signalbox/home";
import type { McpTool } from "@signalbox/mcp";
import { allowsTool, visibleText } from "@signalbox/tools";
import { openMcpServers } from "../../agent/mcp-servers.ts";
import { namesServer } from "../../agent/more-tools.ts";
import { resolveAgents } from "../../configure/agents.ts";
import type { CommonOptions } from "../common-options.ts";
import { configuredHome } from "../configured-home.ts";
import type { ConfiguredHome, GatewayHost } from "../host.ts";
import { printTable, short } from "../table.ts";

const DESCRIPTION_CHARS = 80;

/** `signalbox mcp list`: the servers of the configuration. None is started. */
export async function list(options: CommonOptions): Promise<void> {
  const { loaded, home } = configuredHome(options);
  const agents = resolveAgents(loaded, home).all;
  const servers = Object.entries(loaded.config.mcp.servers).map(
    ([name, { command, args = [], url = "" }]) => ({
      name,
      // What stands in the rest of an address or of a command may be a secret.
      at: command === undefined ? new URL(url).origin : [command, ...args.slice(0, 1)].join(" "),
      agents: agents.filter(({ tools }) => namesServer(tools.allow, name)).map(({ id }) => id),
    }),
  );
  printTable(options.json, servers, {
    none: "No MCP servers are configured. Add them under `mcp.servers`.",
    columns: { NAME: ({ name }) => name, AT: ({ at }) => at, AGENTS: (server) => server.agents.join(", ") },
  });
}

/** `signalbox mcp tools [server]`: starts servers, and says what they offer and to whom. */
export async function tools(
  server: string | undefined,
  options: CommonOptions,
  host: GatewayHost,
): Promise<void> {
  const configured = configuredHome(options);
  const { mcp } = configured.loaded.config;
  if (server !== undefined && !Object.hasOwn(mcp.servers, server))
    throw new GatewayError(
      "usage",
      `There is no MCP server ${server}. \`signalbox mcp list\` shows all servers.`,
    );
  const offered = await askServers(configured, server, host);
  const agents = resolveAgents(configured.loaded, configured.home).all;
  const rows = offered.tools.map(({ name, description, ...tool }) => ({
    name,
    server: tool.server,
    agents: agents.filter((agent) => allowsTool(agent.tools, name)).map(({ id }) => id),
    description,
  }));
  printTable(options.json, rows, {
    none: "The servers offer no tools.",
    columns: {
      TOOL: ({ name }) => name,
      AGENTS: (row) => row.agents.join(", "),
      // A server may say whatever it likes to a terminal.
      DESCRIPTION: ({ description }) => visibleText(short(description, DESCRIPTION_CHARS)),
    },
    below: offered.notes,
  });
  if (offered.down.length > 0) throw new GatewayError("failure", offered.down.join("\n"));
}

interface Offered {
  readonly tools: readonly McpTool[];
  /** What is wrong with tools of servers that are up, and which servers are not. */
  readonly notes: readonly string[];
  readonly down: readonly string[];
}

/** Starts the servers as the gateway does, and ends them again. */
async function askServers(
  { loaded: { config } }: ConfiguredHome,
  only: string | undefined,
  { version }: GatewayHost,
): Promise<Offered> {
  const servers = openMcpServers(config, {
    version,
    logger: { info: () => {}, warn: () => {} },
    now: Date.now,
  });
  try {
    const tools = await servers.tools((_, name) => only === undefined || name === only);
    const asked = servers.status().filter(({ name }) => only === undefined || name === only);
    const said = ({ name, notes }: (typeof asked)[number]): string =>
      visibleText(`${name}: ${notes.join("; ")}`);
    const isUp = ({ state }: (typeof asked)[number]): boolean => state === "ready";
    return {
      tools,
      notes: asked.filter((each) => isUp(each) && each.notes.length > 0).map(said),
      down: asked.filter((each) => !isUp(each)).map(said),
    };
  } finally {
    await servers.close();
  }
}
