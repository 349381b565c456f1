import { type McpServers, McpSignInError } from "@signalbox/mcp";
import type { McpService } from "@signalbox/server";
import type { CoreContext } from "../core-context.ts";

interface McpServiceParts extends Pick<CoreContext, "audit" | "redact"> {
  readonly mcp: McpServers;
}

/** Lists MCP servers and signs in at them, for the API and for chat commands. */
export function createMcpService({ mcp, audit, redact }: McpServiceParts): McpService {
  const refuse = (error: unknown) => {
    if (!(error instanceof McpSignInError)) throw error;
    const { code, message, issuer } = error;
    return { ok: false as const, code, message: redact(message), issuer };
  };
  const isRemote = (name: string): boolean =>
    mcp.status().some((server) => server.name === name && server.transport === "http");
  return {
    servers: () =>
      Promise.all(
        mcp.status().map(async ({ tools, notes, ...server }) => ({
          ...server,
          tools: [...tools],
          notes: notes.map(redact),
          signIn: server.transport === "http" ? await mcp.signIn.status(server.name) : undefined,
        })),
      ),
    async login(name, issuer) {
      if (!isRemote(name)) return undefined;
      return mcp.signIn.start(name, issuer).then((started) => ({ ok: true as const, ...started }), refuse);
    },
    finishLogin: (url, actor) =>
      mcp.signIn.finish(url).then((server) => {
        audit.mcpSignIn("signed_in", server, actor);
        return { ok: true as const, server };
      }, refuse),
    async logout(name, actor) {
      if (!isRemote(name)) return undefined;
      const result = await mcp.signIn.signOut(name);
      if (result.wasSignedIn) audit.mcpSignIn("signed_out", name, actor);
      return result;
    },
  };
}
