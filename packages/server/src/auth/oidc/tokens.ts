import type { JWTPayload } from "jose";
import type { ExternalIdentity } from "../external-people.ts";
import type { OidcSettings } from "../sign-in-settings.ts";
import { readGroups, toIdentity } from "./claims.ts";
import { OidcError } from "./errors.ts";
import { CLOCK_TOLERANCE_S, type Provider } from "./provider.ts";

/** Signature algorithms with public keys. With HS256, the public key could be used as the secret. */
const ALGORITHMS = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];
const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";
/** Maximum age of a logout token in seconds. */
const MAX_LOGOUT_AGE_S = 300;

/** Returns true if a bearer token has the form of a signed JWT. The gateway's own tokens contain no dots. */
export function isJwt(token: string): boolean {
  return /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/.test(token);
}

/** A valid access token. */
export interface VerifiedAccessToken {
  readonly identity: ExternalIdentity;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/**
 * Verifies an access token of the provider (RFC 9068).
 *
 * @param now milliseconds since the epoch
 * @throws if it is invalid, has another audience, or is another kind of token
 */
export async function verifyAccessToken(
  token: string,
  { provider: { configuration, keys }, settings, now }: Verification & { readonly now: number },
): Promise<VerifiedAccessToken> {
  const { audience } = settings;
  if (audience === undefined) throw new Error("gateway.auth.oidc.audience is not set");
  const { jwtVerify } = await import("jose");
  const { payload, protectedHeader } = await jwtVerify(token, keys, {
    issuer: configuration.serverMetadata().issuer,
    audience,
    algorithms: ALGORITHMS,
    clockTolerance: CLOCK_TOLERANCE_S,
    currentDate: new Date(now),
    requiredClaims: ["exp", "iat", "sub"],
  });
  // Keycloak has the same header for all tokens, and names the kind in a claim.
  const isOther =
    !["at+jwt", "application/at+jwt", "jwt", undefined].includes(protectedHeader.typ?.toLowerCase()) ||
    ["ID", "Logout", "Refresh"].includes(String(payload["typ"])) ||
    payload["events"] !== undefined;
  const { sub, exp, iat } = payload;
  if (isOther || sub === undefined || exp === undefined || iat === undefined)
    throw new Error("this is not an access token");
  const groups = readGroups(payload, settings);
  // Without the claim, nothing is known about the groups. An empty list would end the sessions of the person.
  if (groups === undefined)
    throw new OidcError("no_role", `the access token has no claim ${settings.groupsClaim}`);
  const identity = toIdentity({ ...payload, sub }, settings, { groups, asOf: iat * 1000 });
  return { identity, expiresAt: (exp + CLOCK_TOLERANCE_S) * 1000 };
}

interface Verification {
  readonly provider: Provider;
  readonly settings: OidcSettings;
}

/** The sessions that a provider has ended. */
export interface LogoutNotice {
  readonly subject: string | undefined;
  readonly sid: string | undefined;
  /** Unique id of the notice. */
  readonly id: string;
}

/**
 * Verifies a logout token (OpenID Connect Back-Channel Logout 1.0, section 2.6).
 *
 * @param now milliseconds since the epoch
 * @throws if it is invalid
 */
export async function verifyLogoutToken(
  token: string,
  { provider: { configuration, keys }, settings, now }: Verification & { readonly now: number },
): Promise<LogoutNotice> {
  const { jwtVerify } = await import("jose");
  const { payload, protectedHeader } = await jwtVerify(token, keys, {
    issuer: configuration.serverMetadata().issuer,
    audience: settings.clientId,
    algorithms: ALGORITHMS,
    clockTolerance: CLOCK_TOLERANCE_S,
    currentDate: new Date(now),
    maxTokenAge: MAX_LOGOUT_AGE_S,
    requiredClaims: ["iat", "jti"],
  });
  const { sub, jti } = payload;
  const sid = typeof payload["sid"] === "string" ? payload["sid"] : undefined;
  const isLogout = hasLogoutEvent(payload) && payload["nonce"] === undefined;
  const isTyped = ["logout+jwt", "jwt", undefined].includes(protectedHeader.typ?.toLowerCase());
  if (!isLogout || !isTyped || jti === undefined || (sub === undefined && sid === undefined))
    throw new Error("this is not a logout token");
  return { subject: sub, sid, id: jti };
}

function hasLogoutEvent({ events }: JWTPayload): boolean {
  return typeof events === "object" && events !== null && Object.hasOwn(events, LOGOUT_EVENT);
}
