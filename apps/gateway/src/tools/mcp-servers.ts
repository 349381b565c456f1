import type { Config } from "@signalbox/config";
import { createMcpServers, type McpServerSettings, type McpServers } from "@signalbox/mcp";
import type { Logger } from "@signalbox/telemetry/logger";
import { VERSION } from "../version.ts";

/** The MCP servers of the configuration. None is started before a run needs its tools. */
export function openMcpServers(config: Config, logger: Logger, now: () => number): McpServers {
  return createMcpServers({
    servers: mcpSettings(config),
    version: VERSION,
    now,
    onLog: (server, text) => logger.info({ server }, text),
  });
}

export function mcpSettings({ mcp }: Pick<Config, "mcp">): Readonly<Record<string, McpServerSettings>> {
  const servers = Object.entries(mcp.servers).map(([name, server]) => [name, settingsOf(server)] as const);
  return Object.fromEntries(servers);
}

/** What is checked by now: one of `command` and `url` is there. */
function settingsOf({ command, url = "", ...rest }: Config["mcp"]["servers"][string]): McpServerSettings {
  return command === undefined ? { ...rest, url } : { ...rest, command };
}
