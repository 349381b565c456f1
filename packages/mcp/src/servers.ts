import { isDeepStrictEqual } from "node:util";
import { isJsonObject } from "@signalbox/agent-core";
import { type ListedTool, McpServer } from "./server.ts";
import {
  MCP_SERVER_NAME,
  type McpServerSettings,
  type McpServerStatus,
  type McpTool,
  toolPrefix,
} from "./types.ts";

export interface McpServersOptions {
  /** By name; see `MCP_SERVER_NAME`. */
  readonly servers: Readonly<Record<string, McpServerSettings>>;
  /** What this program tells servers of its version. */
  readonly version: string;
  /** Told each time a server goes down or cannot be started, and why. */
  readonly onDown?: (server: string, reason: string) => void;
  /** Logs what a server's process writes apart from messages. */
  readonly onLog?: (server: string, text: string) => void;
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
}

/** The servers of a configuration. None is started before its tools are asked for. */
export interface McpServers {
  /** Tools of the servers that `wants` names, as they are just now. One that does not come up has none. */
  tools(wants: (prefix: string, server: string) => boolean): Promise<readonly McpTool[]>;
  status(): readonly McpServerStatus[];
  /**
   * Replaces the servers. A server with unchanged settings stays as it is; for the others, calls in progress end first.
   * @throws TypeError for a name that no server can have
   */
  configure(servers: McpServersOptions["servers"]): void;
  /** Ends all connections and processes. */
  close(): Promise<void>;
}

/** @throws TypeError for a name that no server can have */
export function createMcpServers(options: McpServersOptions): McpServers {
  const { version, now = Date.now, onDown, onLog } = options;
  let servers = new Map<string, McpServer>();
  const retiring = new Set<Promise<void>>();

  const configure: McpServers["configure"] = (configured) => {
    const before = servers;
    servers = new Map();
    for (const [name, settings] of Object.entries(configured)) {
      if (!MCP_SERVER_NAME.test(name)) throw new TypeError(`no MCP server can be called ${name}`);
      const running = before.get(name);
      const goesOn = running !== undefined && isDeepStrictEqual(running.settings, settings);
      const made = (): McpServer =>
        new McpServer({
          name,
          settings,
          version,
          now,
          onDown: (reason) => onDown?.(name, reason),
          onLog: (text) => onLog?.(name, text),
        });
      servers.set(name, goesOn ? running : made());
    }
    for (const [name, server] of before) {
      if (servers.get(name) === server) continue;
      const retired = server.retire();
      retiring.add(retired);
      void retired.finally(() => retiring.delete(retired));
    }
  };

  configure(options.servers);
  return {
    configure,
    async tools(wants) {
      const wanted = [...servers].filter(([name]) => wants(toolPrefix(name), name));
      const lists = wanted.map(async ([name, server]) =>
        (await server.tools()).map((tool) => toTool(name, server, tool)),
      );
      return (await Promise.all(lists)).flat();
    },
    status: () => [...servers.values()].map((server) => server.status),
    async close() {
      await Promise.allSettled([...[...servers.values()].map((server) => server.close()), ...retiring]);
    },
  };
}

/** No one can know what a server's tool did: whatever it claims, it is never repeated blindly. */
function toTool(name: string, server: McpServer, listed: ListedTool): McpTool {
  return {
    server: name,
    changed: listed.changed,
    name: listed.name,
    description: listed.description,
    inputSchema: listed.inputSchema,
    effects: "external",
    truncate: "head-tail",
    execute: ({ args }, context) => server.call(listed, isJsonObject(args) ? args : {}, context),
  };
}
