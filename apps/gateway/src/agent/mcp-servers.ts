import type { Config } from "@signalbox/config";
import {
  createMcpServers,
  type McpDescriptionStore,
  type McpServerSettings,
  type McpServers,
} from "@signalbox/mcp";
import type { KvStore } from "@signalbox/store/types";

/** Services that MCP servers use. */
export interface McpHost {
  readonly version: string;
  readonly logger: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
  readonly now: () => number;
  /** Stores accepted tool descriptions. Default: in memory. */
  readonly kv?: KvStore;
}

/** Opens the configured MCP servers. A server starts when a run first needs its tools. */
export function openMcpServers(config: Config, host: McpHost): McpServers {
  return createMcpServers({
    servers: mcpSettings(config),
    version: host.version,
    now: host.now,
    descriptions: host.kv && createDescriptionStore(host.kv),
    onDown: (server, reason) => host.logger.warn({ server, err: reason }, "an MCP server is down"),
    onLog: (server, text) => host.logger.info({ server }, text),
  });
}

const NAMESPACE = "mcp_descriptions";

function createDescriptionStore(kv: KvStore): McpDescriptionStore {
  return {
    get: (key) => kv.get(NAMESPACE, key),
    set: (key, hashes) => kv.set(NAMESPACE, key, { ...hashes }),
  };
}

export function mcpSettings({ mcp }: Config): Readonly<Record<string, McpServerSettings>> {
  const servers = Object.entries(mcp.servers).map(
    ([name, server]) => [name, toServerSettings(server)] as const,
  );
  return Object.fromEntries(servers);
}

/** Configuration validation ensures that either `command` or `url` is set. */
function toServerSettings({
  command,
  url = "",
  ...rest
}: Config["mcp"]["servers"][string]): McpServerSettings {
  return command === undefined ? { ...rest, url } : { ...rest, command };
}
