import * as z from "zod/mini";

/** A configured MCP server. */
export const McpServerInfo = z.object({
  name: z.string(),
  transport: z.enum(["stdio", "http"]),
  /** `not started`: no agent has used it yet. */
  state: z.enum(["not started", "starting", "ready", "down"]),
  /** Names of its tools as agents see them. */
  tools: z.array(z.string()),
  /** The reason why it is down, and the tools that were left out. */
  notes: z.array(z.string()),
  /** True if it is down because an owner has to sign in. */
  needsSignIn: z.boolean(),
  /** Present for servers over HTTP. */
  signIn: z.optional(
    z.object({
      state: z.enum(["signed_in", "signed_out"]),
      /** URL of the authorization server. */
      issuer: z.optional(z.string()),
      scope: z.optional(z.string()),
      /** Milliseconds since the epoch. */
      expiresAt: z.optional(z.number()),
      /** True if the token is replaced without a person. */
      canRefresh: z.optional(z.boolean()),
    }),
  ),
});
export type McpServerInfo = z.infer<typeof McpServerInfo>;

/** Response of `GET /api/mcp`. */
export const McpServerList = z.object({ servers: z.array(McpServerInfo) });
export type McpServerList = z.infer<typeof McpServerList>;

/** Body of `POST /api/mcp/:name/login`. */
export const McpLogin = z.strictObject({
  /** Confirms an authorization server on another host than the MCP server. */
  issuer: z.optional(z.string().check(z.maxLength(2_000))),
});
export type McpLogin = z.infer<typeof McpLogin>;

/** Body of `POST /api/mcp/:name/callback`: the address at which the browser arrived after the sign-in. */
export const McpCallback = z.strictObject({ url: z.string().check(z.maxLength(8_000)) });
export type McpCallback = z.infer<typeof McpCallback>;

const McpRefusal = z.object({
  ok: z.literal(false),
  /** `foreign_issuer`: repeat the request with `issuer` if the owner trusts that authorization server. */
  code: z.string(),
  message: z.string(),
  issuer: z.optional(z.string()),
});

/** Response of `POST /api/mcp/:name/login`. */
export const McpLoginResult = z.discriminatedUnion("ok", [
  z.object({
    ok: z.literal(true),
    /** The page that the owner opens. */
    url: z.string(),
    issuer: z.string(),
    /** Milliseconds since the epoch. */
    expiresAt: z.number(),
  }),
  McpRefusal,
]);
export type McpLoginResult = z.infer<typeof McpLoginResult>;

/** Response of `POST /api/mcp/:name/callback`. */
export const McpCallbackResult = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), server: z.string() }),
  McpRefusal,
]);
export type McpCallbackResult = z.infer<typeof McpCallbackResult>;

/** Response of `POST /api/mcp/:name/logout`. */
export const McpLogoutResult = z.object({
  wasSignedIn: z.boolean(),
  /** True if the authorization server confirmed that it has revoked the tokens. */
  isRevoked: z.boolean(),
});
export type McpLogoutResult = z.infer<typeof McpLogoutResult>;
