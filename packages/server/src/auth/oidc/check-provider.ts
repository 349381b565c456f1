import type { OidcSettings } from "../sign-in-settings.ts";
import { toOidcError } from "./errors.ts";
import { CLOCK_TOLERANCE_S, discoverProvider } from "./provider.ts";

/** Time limit of a request, in milliseconds. */
const TIMEOUT_MS = 10_000;

/** A problem with the sign-in at the OpenID provider. */
export interface ProviderProblem {
  readonly detail: string;
  readonly remedy: string;
}

/**
 * Reads the provider's metadata, compares its clock, and starts an authorization request to find out if the provider
 * accepts the client and the redirect URI.
 *
 * @param now milliseconds since the epoch
 */
export async function checkOidcProvider(
  settings: OidcSettings,
  redirectUri: string,
  now: () => number,
): Promise<readonly ProviderProblem[]> {
  try {
    const { configuration } = await discoverProvider(settings);
    return [
      ...(await checkClock(settings, now)),
      ...(await checkRedirectUri(
        configuration.serverMetadata().authorization_endpoint,
        settings,
        redirectUri,
      )),
    ];
  } catch (error) {
    const { code, message } = toOidcError(error);
    const detail =
      code === "unreachable"
        ? `the provider ${settings.issuer} cannot be reached: ${message}`
        : `the metadata of ${settings.issuer} cannot be used: ${message}`;
    return [{ detail, remedy: "Check gateway.auth.oidc.issuer, and that this machine can connect to it." }];
  }
}

async function checkClock({ issuer }: OidcSettings, now: () => number): Promise<readonly ProviderProblem[]> {
  const url = `${issuer.replace(/\/+$/, "")}/.well-known/openid-configuration`;
  const before = now();
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: "manual" });
  await response.body?.cancel();
  const date = Date.parse(response.headers.get("date") ?? "");
  const differenceS = Math.round(Math.abs((before + now()) / 2 - date) / 1000);
  // A cache may serve the metadata with an old date.
  if (Number.isNaN(date) || response.headers.has("age") || differenceS <= CLOCK_TOLERANCE_S) return [];
  return [
    {
      detail: `the clock of the provider differs by ${differenceS} s from the clock of this machine`,
      remedy: "Synchronize the clocks, for example with NTP. Sign-ins fail otherwise.",
    },
  ];
}

/** Providers show an error page, with an error status, for a client or a redirect URI that they do not know. */
async function checkRedirectUri(
  endpoint: string | undefined,
  { clientId, scopes }: OidcSettings,
  redirectUri: string,
): Promise<readonly ProviderProblem[]> {
  if (endpoint === undefined)
    return [
      { detail: "the provider has no authorization endpoint", remedy: "Check gateway.auth.oidc.issuer." },
    ];
  const url = new URL(endpoint);
  const parameters = {
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    scope: scopes.join(" "),
    state: "signalbox-doctor-does-not-sign-in",
    nonce: "signalbox-doctor-does-not-sign-in",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: "manual" });
  await response.body?.cancel();
  if (response.status < 400) return [];
  return [
    {
      detail: `the provider refuses the authorization request with status ${response.status}`,
      remedy: `Register the redirect URI ${redirectUri} for the client ${clientId} at the provider.`,
    },
  ];
}
