import type { GatewayConfig } from "@signalbox/config";

/** Sign-ins that browsers and API clients can use in addition to the gateway's own token. */
export type SignInSettings = Omit<GatewayConfig["auth"], "token">;
export type OidcSettings = NonNullable<SignInSettings["oidc"]>;
export type ProxySettings = NonNullable<SignInSettings["proxy"]>;

/** Settings of a gateway that accepts only tokens and sign-in links. */
export const TOKENS_ONLY: SignInSettings = {
  tokenSignIn: true,
  roles: { owner: [], operator: [], viewer: [], member: [], monitor: [] },
};
