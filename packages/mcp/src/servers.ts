import { isDeepStrictEqual } from "node:util";
import { isJsonObject } from "@signalbox/agent-core";
import { type ListedTool, McpServer } from "./server.ts";
import { createSignIns } from "./sign-in/sign-in.ts";
import type { McpSignIn, McpSignInOptions } from "./sign-in/types.ts";
import {
  MCP_SERVER_NAME,
  type McpDescriptionStore,
  type McpServerSettings,
  type McpServerStatus,
  type McpTool,
  toolPrefix,
} from "./types.ts";

export interface McpServersOptions {
  /** Servers by name. Names match `MCP_SERVER_NAME`. */
  readonly servers: Readonly<Record<string, McpServerSettings>>;
  /** Version of the host that is reported to servers. */
  readonly version: string;
  /** Called each time a server goes down or cannot be started. */
  readonly onDown?: (server: string, reason: string) => void;
  /** Called with output of a server's process on standard error, and with notes about its tools. */
  readonly onLog?: (server: string, text: string) => void;
  /** Stores which descriptions of tools were accepted. Default: in memory, so that a restart accepts new ones. */
  readonly descriptions?: McpDescriptionStore;
  /** Sign-in at servers over HTTP. Default: credentials are kept in memory. */
  readonly signIn?: McpSignInOptions;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
}

/** MCP servers. Each is started when its tools are first needed. */
export interface McpServers {
  /** Returns the current tools of the servers that `wants` selects. A server that does not start has none. */
  tools(wants: (prefix: string, server: string) => boolean): Promise<readonly McpTool[]>;
  status(): readonly McpServerStatus[];
  readonly signIn: McpSignIn;
  /** Accepts the current descriptions of these tools after a review. */
  accept(tools: readonly McpTool[]): Promise<void>;
  /**
   * Replaces the servers. A server with unchanged settings keeps running. A removed server ends after its pending
   * calls.
   *
   * @throws TypeError if a name is invalid
   */
  configure(servers: McpServersOptions["servers"]): void;
  /** Closes all connections and ends all processes. */
  close(): Promise<void>;
}

/**
 * Creates MCP servers without starting them.
 *
 * @throws TypeError if a name is invalid
 * @example
 * const servers = createMcpServers({
 *   version: "1.0.0",
 *   servers: { files: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "/srv/data"] } },
 * });
 * const tools = await servers.tools(() => true);
 */
export function createMcpServers(options: McpServersOptions): McpServers {
  const { version, now = Date.now, onDown, onLog, descriptions = createMemoryStore() } = options;
  let servers = new Map<string, McpServer>();
  const retiring = new Set<Promise<void>>();
  /** The server and the description behind each tool. */
  const sources = new WeakMap<McpTool, { readonly server: McpServer; readonly hash: string }>();

  const signIns = createSignIns({
    ...options.signIn,
    now,
    getServer(name) {
      const settings = servers.get(name)?.settings;
      return settings !== undefined && "url" in settings ? settings : undefined;
    },
    onChange: (name) => servers.get(name)?.reconnect(),
  });

  const configure: McpServers["configure"] = (configured) => {
    const before = servers;
    servers = new Map();
    for (const [name, settings] of Object.entries(configured)) {
      if (!MCP_SERVER_NAME.test(name)) throw new TypeError(`${name} is not a valid name for an MCP server`);
      const running = before.get(name);
      const isUnchanged = running !== undefined && isDeepStrictEqual(running.settings, settings);
      const create = (): McpServer =>
        new McpServer({
          name,
          settings,
          version,
          now,
          descriptions,
          tokens: "url" in settings ? signIns.createTokens(name, settings.url) : undefined,
          onDown: (reason) => onDown?.(name, reason),
          onLog: (text) => onLog?.(name, text),
        });
      servers.set(name, isUnchanged ? running : create());
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
    signIn: signIns,
    async tools(wants) {
      const wanted = [...servers].filter(([name]) => wants(toolPrefix(name), name));
      const lists = wanted.map(async ([name, server]) =>
        (await server.tools()).map((listed) => {
          const tool = toTool(name, server, listed);
          sources.set(tool, { server, hash: listed.hash });
          return tool;
        }),
      );
      return (await Promise.all(lists)).flat();
    },
    status: () => [...servers.values()].map((server) => server.status),
    async accept(tools) {
      const hashes = new Map<McpServer, Set<string>>();
      for (const { server, hash } of tools.flatMap((tool) => sources.get(tool) ?? []))
        hashes.set(server, (hashes.get(server) ?? new Set()).add(hash));
      for (const [server, accepted] of hashes) await server.accept(accepted);
    },
    async close() {
      await Promise.allSettled([...[...servers.values()].map((server) => server.close()), ...retiring]);
    },
  };
}

/** The effects of a server's tool are unknown, so they are treated as external, and calls are never repeated. */
function toTool(name: string, server: McpServer, listed: ListedTool): McpTool {
  return {
    server: name,
    changed: listed.changed,
    name: listed.name,
    description: listed.description,
    inputSchema: listed.inputSchema,
    effects: "external",
    truncate: "head_tail",
    execute: ({ args }, context) => server.call(listed, isJsonObject(args) ? args : {}, context),
  };
}

function createMemoryStore(): McpDescriptionStore {
  const stored = new Map<string, unknown>();
  return {
    get: async (key) => stored.get(key),
    set: async (key, hashes) => void stored.set(key, hashes),
  };
}
