import type { OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import { z } from "zod";
import { type McpCredentialStore, type McpCredentials, McpSignInError } from "./types.ts";

/** Maximum length of a token. It has to fit into a header. */
const MAX_TOKEN_CHARS = 8_192;
/** Maximum lifetime that is believed, in seconds: one year. */
const MAX_LIFETIME_S = 31_536_000;

const text = z.string().min(1);
const credentialsSchema = z.object({
  serverUrl: text,
  issuer: text,
  client: z.object({
    client_id: text,
    client_secret: text.optional(),
    token_endpoint_auth_method: text.optional(),
  }),
  metadata: z
    .object({
      issuer: text,
      authorization_endpoint: text,
      token_endpoint: text,
      response_types_supported: z.array(text),
      revocation_endpoint: text.optional(),
      token_endpoint_auth_methods_supported: z.array(text).optional(),
    })
    .optional(),
  resource: text.optional(),
  accessToken: text,
  refreshToken: text.optional(),
  scope: z.string().optional(),
  obtainedAt: z.number(),
  expiresAt: z.number().optional(),
});

/** Reads the credentials of a server. Returns undefined if they are for another URL or damaged. */
export async function readCredentials(
  store: McpCredentialStore,
  server: string,
  serverUrl: string,
): Promise<McpCredentials | undefined> {
  const { data } = credentialsSchema.safeParse(await store.get(server));
  return data?.serverUrl === serverUrl ? data : undefined;
}

type TokenFields = Pick<
  McpCredentials,
  "accessToken" | "refreshToken" | "scope" | "obtainedAt" | "expiresAt"
>;

/**
 * Checks the tokens of a response.
 *
 * @throws McpSignInError if they cannot be sent in a header
 */
export function readTokens(tokens: OAuthTokens, now: number): TokenFields {
  const { access_token: accessToken, refresh_token: refreshToken, token_type: type, scope } = tokens;
  if (type.toLowerCase() !== "bearer")
    throw new McpSignInError(
      "refused",
      "the authorization server issued a token of another type than Bearer",
    );
  for (const token of [accessToken, ...(refreshToken === undefined ? [] : [refreshToken])])
    if (token.length > MAX_TOKEN_CHARS || !/^[\x21-\x7e]+$/.test(token))
      throw new McpSignInError(
        "refused",
        "the authorization server issued a token that is too long or malformed",
      );
  const seconds = tokens.expires_in;
  const lifetime = seconds !== undefined && seconds > 0 ? Math.min(seconds, MAX_LIFETIME_S) : undefined;
  return {
    accessToken,
    refreshToken,
    scope: scope?.slice(0, 2_000),
    obtainedAt: now,
    expiresAt: lifetime === undefined ? undefined : now + lifetime * 1_000,
  };
}

/** Creates a store that forgets everything when the process ends. */
export function createMemoryCredentials(): McpCredentialStore {
  const stored = new Map<string, McpCredentials>();
  return {
    get: async (server) => stored.get(server),
    async set(server, credentials) {
      if (credentials === undefined) stored.delete(server);
      else stored.set(server, credentials);
    },
    lock: (_, work) => work(),
  };
}
