import type { Context } from "hono";
import type { Env } from "../middleware.ts";
import type { GatewayService } from "../service.ts";

/**
 * `POST /mcp`: the gateway as an MCP server over Streamable HTTP. Each request is complete in itself (the stateless
 * form of the transport), so that any gateway of a shared store can answer it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports
 */
export async function answerMcpRequest(context: Context<Env>, service: GatewayService): Promise<Response> {
  // Loaded with the first request, because most gateways never need this half megabyte.
  const [{ WebStandardStreamableHTTPServerTransport }, { createMcpServer }] = await Promise.all([
    import("@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js"),
    import("./create-mcp-server.ts"),
  ]);
  const { principal } = context.get("access");
  const { signal } = context.req.raw;
  const server = createMcpServer({ service, principal, signal });
  const transport = new WebStandardStreamableHTTPServerTransport();
  await server.connect(transport);
  signal.addEventListener("abort", () => void server.close().catch(() => {}), { once: true });
  return transport.handleRequest(context.req.raw);
}
