import { McpCallback, McpLogin, type McpServerList } from "@signalbox/protocol";
import { type Context, Hono } from "hono";
import { html } from "hono/html";
import { apiErrors } from "../error-replies.ts";
import type { Env } from "../middleware.ts";
import type { McpService } from "../service.ts";

/** Path to which authorization servers of MCP servers send browsers back. */
export const MCP_CALLBACK_PATH = "/oauth/mcp/callback";

/** The routes of `/api/mcp` for owners: MCP servers and the sign-in at them. */
export function mcpRoutes(mcp: McpService): Hono<Env> {
  const app = new Hono<Env>();
  app.get("/", async (context) => {
    const list: McpServerList = { servers: await mcp.servers() };
    return context.json(list);
  });
  app.post("/:name/login", async (context) => {
    const body = McpLogin.safeParse(await context.req.json().catch(() => undefined));
    if (!body.success)
      return apiErrors.badJson(context, 'Send {} or {"issuer": "the authorization server to trust"}.');
    const result = await mcp.login(context.req.param("name"), body.data.issuer);
    return result === undefined ? noServer(context) : context.json(result);
  });
  app.post("/:name/callback", async (context) => {
    const body = McpCallback.safeParse(await context.req.json().catch(() => undefined));
    const url = body.success ? URL.parse(body.data.url) : null;
    if (url === null)
      return apiErrors.badJson(context, 'Send {"url": "the address at which the browser arrived"}.');
    return context.json(await mcp.finishLogin(url, context.get("access").principal.name));
  });
  app.post("/:name/logout", async (context) => {
    const result = await mcp.logout(context.req.param("name"), context.get("access").principal.name);
    return result === undefined ? noServer(context) : context.json(result);
  });
  return app;
}

function noServer(context: Context<Env>): Response {
  return apiErrors.missing(context, `MCP server ${context.req.param("name")} with an address`);
}

/**
 * `GET /oauth/mcp/callback`: an authorization server sends the owner's browser here. The secret `state` in the query
 * shows that an owner started the sign-in, so no token is required.
 */
export async function finishMcpLogin(context: Context<Env>, mcp: McpService): Promise<Response> {
  const result = await mcp.finishLogin(new URL(context.req.url), "a browser");
  context.header("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
  // The address of this page contains the code.
  context.header("referrer-policy", "no-referrer");
  context.header("x-content-type-options", "nosniff");
  const text = result.ok
    ? `Signed in to ${result.server}. You can close this page. / 已登录 ${result.server}，可以关闭此页面。`
    : `The sign-in failed: ${result.message}. / 登录失败，请重新发起。`;
  const page = html`<!doctype html><meta charset="utf-8"><title>Signalbox</title><p>${text}</p>`;
  return context.html(page, result.ok ? 200 : 400);
}
