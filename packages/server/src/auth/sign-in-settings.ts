import type { GatewayConfig } from "@signalbox/config";

/** How browsers and API clients authenticate, besides the gateway's own token. */
export type SignInSettings = Omit<GatewayConfig["auth"], "token">;
export type OidcSettings = NonNullable<SignInSettings["oidc"]>;
export type ProxySettings = NonNullable<SignInSettings["proxy"]>;

/** Settings of a gateway that accepts only tokens and sign-in links. */
export const TOKENS_ONLY: SignInSettings = {
  tokenSignIn: true,
  roles: { owner: [], operator: [], viewer: [], member: [], monitor: [] },
};
