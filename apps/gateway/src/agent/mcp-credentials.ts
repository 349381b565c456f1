import { openSecretValues } from "@signalbox/home";
import type { McpCredentialStore } from "@signalbox/mcp";
import type { GatewayOptions } from "../gateway-options.ts";

/**
 * Keeps the sign-ins at MCP servers in the home. Every token that is read or written is hidden in logs, traces and
 * prompts from then on.
 */
export function createMcpCredentials({
  home,
  vault,
}: Pick<GatewayOptions, "home" | "vault">): McpCredentialStore {
  const files = openSecretValues(home, "mcp");
  const hidden = new Set<string>();
  const hide = (value: unknown): void => {
    const added = getSecrets(value).filter((secret) => !hidden.has(secret));
    for (const secret of added) hidden.add(secret);
    if (added.length > 0) vault.add(added);
  };
  return {
    async get(server) {
      const stored = await files.get(server);
      hide(stored);
      return stored;
    },
    async set(server, credentials) {
      hide(credentials);
      await files.set(server, credentials);
    },
    lock: (server, work) => files.lock(server, work),
  };
}

/** A hostile server could issue a common word as a token, and so hide it everywhere. */
const MIN_HIDDEN_CHARS = 12;
const SECRET_FIELDS = new Set(["accessToken", "refreshToken", "client_secret"]);

function getSecrets(stored: unknown): readonly string[] {
  if (typeof stored !== "object" || stored === null) return [];
  return Object.entries(stored)
    .flatMap(([name, value]) =>
      SECRET_FIELDS.has(name) && typeof value === "string" ? [value] : getSecrets(value),
    )
    .filter(({ length }) => length >= MIN_HIDDEN_CHARS);
}
