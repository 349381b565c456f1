/** The provider `oidc-provider` from npm on a loopback port, with its own sign-in pages, which accept any password. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";

export const OIDC_CLIENT = {
  clientId: "signalbox",
  clientSecret: "client-secret-0123456789-abcdefghijklmno",
};
/** Audience of access tokens for the gateway. */
export const OIDC_AUDIENCE = "https://gateway.example.org";

export interface RealProvider {
  readonly issuer: string;
  /** Groups by account. They may change between two sign-ins. */
  readonly groups: Map<string, string[]>;
  /** Registers the gateway at its address, from which on the provider responds. */
  register(gatewayUrl: string): void;
  stop(): Promise<void>;
}

export async function startRealProvider(): Promise<RealProvider> {
  const groups = new Map<string, string[]>();
  const server = createServer((_, response) => response.writeHead(503).end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    groups,
    register(gatewayUrl) {
      const provider = createProvider(issuer, gatewayUrl, groups);
      server.removeAllListeners("request").on("request", provider.callback());
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function createProvider(issuer: string, gatewayUrl: string, groups: ReadonlyMap<string, string[]>): Provider {
  return new Provider(issuer, {
    clients: [
      {
        client_id: OIDC_CLIENT.clientId,
        client_secret: OIDC_CLIENT.clientSecret,
        redirect_uris: [`${gatewayUrl}/oauth/oidc/callback`],
        post_logout_redirect_uris: [`${gatewayUrl}/`],
        backchannel_logout_uri: `${gatewayUrl}/oauth/oidc/backchannel-logout`,
        backchannel_logout_session_required: true,
      },
      {
        client_id: "program",
        client_secret: "program-secret-0123456789-abcdefghijklmn",
        grant_types: ["client_credentials"],
        redirect_uris: [],
        response_types: [],
      },
    ],
    claims: { openid: ["sub"], profile: ["preferred_username"], groups: ["groups"] },
    cookies: { keys: ["a-key-of-the-cookies-of-this-test"] },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, preferred_username: id, groups: groups.get(id) ?? [] }),
    }),
    features: {
      backchannelLogout: { enabled: true },
      clientCredentials: { enabled: true },
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_, client) => (client.clientId === "program" ? OIDC_AUDIENCE : []),
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: "",
          audience: OIDC_AUDIENCE,
          accessTokenFormat: "jwt",
          accessTokenTTL: 300,
        }),
      },
    },
    extraTokenClaims: (_, token) =>
      token.kind === "ClientCredentials"
        ? { groups: groups.get("program") ?? [], sub: "program" }
        : undefined,
    pkce: { required: () => true },
    ttl: {
      AccessToken: 300,
      ClientCredentials: 300,
      Grant: 3_600,
      IdToken: 300,
      Interaction: 600,
      Session: 3_600,
    },
  });
}
