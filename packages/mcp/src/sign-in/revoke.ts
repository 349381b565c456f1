import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { McpCredentials } from "./types.ts";

/**
 * Revokes the tokens at the authorization server (RFC 7009).
 *
 * @returns false if the server offers no revocation or did not confirm it
 */
export async function revoke(credentials: McpCredentials, fetch: FetchLike): Promise<boolean> {
  const { metadata, client, accessToken, refreshToken } = credentials;
  const endpoint = metadata?.revocation_endpoint;
  if (endpoint === undefined) return false;
  const { selectClientAuthMethod } = await import("@modelcontextprotocol/sdk/client/auth.js");
  const supported = [...(metadata?.token_endpoint_auth_methods_supported ?? [])];
  const method = selectClientAuthMethod(client, supported);
  const post = async (token: string, hint: string): Promise<boolean> => {
    const headers = new Headers({ "content-type": "application/x-www-form-urlencoded" });
    const body = new URLSearchParams({ token, token_type_hint: hint });
    if (method === "client_secret_basic")
      headers.set("authorization", `Basic ${btoa(`${client.client_id}:${client.client_secret ?? ""}`)}`);
    else body.set("client_id", client.client_id);
    if (method === "client_secret_post") body.set("client_secret", client.client_secret ?? "");
    const response = await fetch(endpoint, { method: "POST", headers, body, redirect: "manual" });
    return response.ok;
  };
  // The refresh token first: most servers revoke its access tokens with it.
  const isRefreshRevoked = refreshToken === undefined || (await post(refreshToken, "refresh_token"));
  return (await post(accessToken, "access_token")) && isRefreshRevoked;
}
