import { createMcpService } from "../agent/mcp-service.ts";
import type { GatewayContext } from "../context.ts";
import type { AskedCommand } from "./command.ts";

/**
 * `/mcp` lists the MCP servers. `/mcp login <server> [issuer]` returns the page on which the owner signs in, and
 * `/mcp logout <server>` signs out.
 */
export async function answerMcp(
  ctx: GatewayContext,
  { message, args, phrases }: AskedCommand,
  owner: string,
): Promise<string> {
  const service = createMcpService(ctx);
  const [action = "", server = "", issuer] = args.split(/\s+/);
  if (action === "") return phrases.mcpServers(await service.servers());
  if (server === "" || (action !== "login" && action !== "logout")) return phrases.mcpUsage;
  if (action === "logout") {
    const result = await service.logout(server, owner);
    if (result === undefined) return phrases.noMcpServer(server);
    return phrases.mcpSignedOut(server, result);
  }
  // The first person who opens the page chooses the account that the agents use.
  const { channel, conversation } = message.stored.event;
  if (conversation.kind !== "direct") return phrases.mcpInPrivate;
  // Tokens that may only read can read the transcripts of the gateway's own channels.
  if (ctx.isOwnChannel(channel)) return phrases.mcpOnPage(server);
  const started = await service.login(server, issuer);
  if (started === undefined) return phrases.noMcpServer(server);
  if (started.ok) return phrases.mcpSignIn(server, started.issuer, started.url);
  return started.code === "foreign_issuer" && started.issuer !== undefined
    ? phrases.mcpForeignIssuer(server, started.issuer)
    : phrases.mcpNotStarted(server, started.message);
}
