import type { Config } from "@signalbox/config";
import {
  createMcpServers,
  type McpCredentialStore,
  type McpDescriptionStore,
  type McpServerSettings,
  type McpServers,
} from "@signalbox/mcp";
import type { KvStore } from "@signalbox/store/types";
import { createGuardedRequest } from "@signalbox/tools";

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
  /** Stores sign-ins. Default: in memory. */
  readonly credentials?: McpCredentialStore;
  /** URL to which authorization servers send browsers back. Only needed to sign in. */
  readonly redirectUrl?: () => string;
  /** Returns the configuration in effect. */
  readonly current: () => Config;
}

/** Opens the configured MCP servers. A server starts when a run first needs its tools. */
export function openMcpServers(config: Config, host: McpHost): McpServers {
  return createMcpServers({
    servers: mcpSettings(config),
    version: host.version,
    now: host.now,
    descriptions: host.kv && createDescriptionStore(host.kv),
    signIn: {
      store: host.credentials,
      redirectUrl: host.redirectUrl,
      fetch: (url, init, serverUrl) =>
        createGuardedRequest({ allow: [...host.current().tools.web.allow, toHostAndPort(serverUrl)] })(
          url,
          init,
        ),
    },
    onDown: (server, reason) => host.logger.warn({ server, err: reason }, "an MCP server is down"),
    onLog: (server, text) => host.logger.info({ server }, text),
  });
}

/** A server chooses its authorization server, which may be on a private address only if it is the server itself. */
function toHostAndPort(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port === "" ? (protocol === "http:" ? 80 : 443) : port}`;
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
