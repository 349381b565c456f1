import { GatewayError, hasDatabase, openVault } from "@signalbox/home";
import type { McpServers, McpTool } from "@signalbox/mcp";
import type { KvStore } from "@signalbox/store/types";
import { allowsTool, escapeInvisible, escapeLine } from "@signalbox/tools";
import { namesServer } from "../../agent/additional-tools.ts";
import { getChanges, getServerPlace, type ServerChanges } from "../../agent/mcp-changes.ts";
import { createMcpCredentials } from "../../agent/mcp-credentials.ts";
import { openMcpServers } from "../../agent/mcp-servers.ts";
import { resolveAgents } from "../../configure/agents.ts";
import type { CommonOptions } from "../common-options.ts";
import { configuredHome } from "../configured-home.ts";
import { withStore } from "../home-store.ts";
import type { ConfiguredHome, GatewayHost } from "../host.ts";
import { print } from "../output.ts";
import { printTable, short } from "../table.ts";

const DESCRIPTION_CHARS = 80;

/** `signalbox mcp list`: lists the configured servers without starting them. */
export async function list(options: CommonOptions): Promise<void> {
  const { loaded, home } = configuredHome(options);
  const agents = resolveAgents(loaded, home).all;
  const servers = Object.entries(loaded.config.mcp.servers).map(([name, server]) => ({
    name,
    at: getServerPlace(server),
    agents: agents.filter(({ tools }) => namesServer(tools.allow, name)).map(({ id }) => id),
  }));
  printTable(options.json, servers, {
    none: "No MCP servers are configured. Add them under `mcp.servers`.",
    columns: { NAME: ({ name }) => name, AT: ({ at }) => at, AGENTS: (server) => server.agents.join(", ") },
  });
}

/** `signalbox mcp tools [server]`: starts servers and lists their tools and the agents that may use them. */
export async function tools(
  server: string | undefined,
  options: CommonOptions,
  host: GatewayHost,
): Promise<void> {
  const configured = configuredHome(options);
  assertConfigured(configured, server);
  const offered = await withServers(configured, host, undefined, (servers) => getOffer(servers, server));
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
      // A description may contain terminal control sequences.
      DESCRIPTION: ({ description }) => escapeInvisible(short(description, DESCRIPTION_CHARS)),
    },
    below: offered.notes,
  });
  if (offered.down.length > 0) throw new GatewayError("failure", offered.down.join("\n"));
}

/** `signalbox mcp changes [server]`: shows tools that are new or whose descriptions differ from the accepted ones. */
export async function changes(
  server: string | undefined,
  options: CommonOptions,
  host: GatewayHost,
): Promise<void> {
  const configured = configuredHome(options);
  assertConfigured(configured, server);
  const changed = await withAccepted(options, configured, host, (servers) => findChanges(servers, server));
  const shown = changed.map(({ server: name, hash, tools: listed }) => ({
    server: name,
    hash,
    tools: listed.map((tool) => ({
      name: tool.name,
      description: tool.description,
      inputSchema: tool.inputSchema,
    })),
  }));
  print(options.json, shown, () =>
    shown.length === 0
      ? ["No tool has changed since it was accepted."]
      : shown.flatMap(({ server: name, hash, tools: listed }) => [
          `The MCP server ${name} describes ${listed.length === 1 ? "a tool" : "tools"} differently, or offers new ones:`,
          ...listed.flatMap((tool) => [
            `  ${escapeLine(tool.name)}`,
            `    ${escapeInvisible(tool.description)}`,
            `    ${escapeLine(JSON.stringify(tool.inputSchema))}`,
          ]),
          `To accept exactly this: \`signalbox mcp accept ${name} --hash ${hash}\``,
        ]),
  );
}

/**
 * `signalbox mcp accept <server> --hash <hash>`: accepts the descriptions that `changes` showed. A running gateway uses
 * them in its next run.
 */
export async function accept(
  server: string,
  options: CommonOptions & { readonly hash: string },
  host: GatewayHost,
): Promise<void> {
  const configured = configuredHome(options);
  assertConfigured(configured, server);
  const names = await withAccepted(options, configured, host, async (servers) => {
    const wanted = (await findChanges(servers, server)).find(({ hash }) => hash === options.hash);
    if (wanted === undefined)
      throw new GatewayError(
        "failure",
        `The MCP server ${server} has no changes with the hash ${options.hash}. \`signalbox mcp changes\` shows them.`,
      );
    await servers.accept(wanted.tools);
    return wanted.tools.map(({ name }) => name);
  });
  await withStore(options, "share", ({ audit }) =>
    audit.append({
      at: Date.now(),
      kind: "approval",
      action: "allowed",
      actor: "command line",
      subject: `MCP server: ${server}`,
      details: { hash: options.hash, tools: names.join(", ") },
    }),
  );
  print(options.json, { server, tools: names }, () => [`Accepted: ${names.join(", ")}.`]);
}

function assertConfigured({ loaded }: ConfiguredHome, server: string | undefined): void {
  if (server === undefined || Object.hasOwn(loaded.config.mcp.servers, server)) return;
  throw new GatewayError(
    "usage",
    `There is no MCP server ${server}. \`signalbox mcp list\` shows all servers.`,
  );
}

interface Offer {
  readonly tools: readonly McpTool[];
  /** Notes about omitted tools of servers that started. */
  readonly notes: readonly string[];
  /** Servers that did not start, with the reasons. */
  readonly down: readonly string[];
}

async function getOffer(servers: McpServers, only: string | undefined): Promise<Offer> {
  const tools = await servers.tools((_, name) => only === undefined || name === only);
  const asked = servers.status().filter(({ name }) => only === undefined || name === only);
  const describe = ({ name, notes }: (typeof asked)[number]): string =>
    escapeInvisible(`${name}: ${notes.join("; ")}`);
  const isUp = ({ state }: (typeof asked)[number]): boolean => state === "ready";
  return {
    tools,
    notes: asked.filter((each) => isUp(each) && each.notes.length > 0).map(describe),
    down: asked.filter((each) => !isUp(each)).map(describe),
  };
}

async function findChanges(servers: McpServers, only: string | undefined): Promise<readonly ServerChanges[]> {
  const { tools, down } = await getOffer(servers, only);
  if (only !== undefined && down.length > 0) throw new GatewayError("failure", down.join("\n"));
  return getChanges(tools);
}

/** Runs `use` with the configured servers and the tool descriptions accepted in this home. */
async function withAccepted<T>(
  options: CommonOptions,
  configured: ConfiguredHome,
  host: GatewayHost,
  use: (servers: McpServers) => Promise<T>,
): Promise<T> {
  if (!(await hasDatabase(configured.home)))
    throw new GatewayError(
      "failure",
      "No tool was accepted yet: the gateway has not run in this home. It accepts the first descriptions as they are.",
    );
  return withStore(options, "share", ({ kv }) => withServers(configured, host, kv, use));
}

/** Starts the servers in the same way as the gateway, and stops them afterwards. */
async function withServers<T>(
  { loaded, home }: ConfiguredHome,
  { version }: GatewayHost,
  kv: KvStore | undefined,
  use: (servers: McpServers) => Promise<T>,
): Promise<T> {
  const { config } = loaded;
  const logger = { info: () => {}, warn: () => {} };
  const servers = openMcpServers(config, {
    version,
    logger,
    now: Date.now,
    kv,
    credentials: createMcpCredentials({ home, vault: openVault(loaded, process.env) }),
    current: () => config,
  });
  try {
    return await use(servers);
  } finally {
    await servers.close();
  }
}
