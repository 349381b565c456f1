import { limitResponse } from "@signalbox/channel";
import type { JWTVerifyGetKey } from "jose";
import type { ClientAuth, Configuration } from "openid-client";
import type { OidcSettings } from "../sign-in-settings.ts";
import { OidcError } from "./errors.ts";

/** Time limit of a request to the provider, in seconds. */
const TIMEOUT_S = 10;
/** Difference between the clocks of the provider and the gateway that is accepted, in seconds. */
export const CLOCK_TOLERANCE_S = 60;
/** The provider's metadata is read again after this time. */
const METADATA_MS = 60 * 60_000;

/** An OpenID provider whose metadata has been read. */
export interface Provider {
  readonly configuration: Configuration;
  /** Keys of the provider, which are read at first use and again when it has new ones. */
  readonly keys: JWTVerifyGetKey;
}

/**
 * Reads the metadata of the provider.
 *
 * @throws {OidcError | Error} if the provider does not respond, or if its metadata belong to another issuer
 */
export async function discoverProvider(settings: OidcSettings): Promise<Provider> {
  const [client, { createRemoteJWKSet, customFetch }] = await Promise.all([
    import("openid-client"),
    import("jose"),
  ]);
  const issuer = new URL(settings.issuer);
  const { clientId, clientSecret } = settings;
  const configuration = await client.discovery(
    issuer,
    clientId,
    { [client.clockTolerance]: CLOCK_TOLERANCE_S },
    clientSecret === undefined
      ? client.None()
      : chooseAuthentication(client.ClientSecretBasic(clientSecret), client.ClientSecretPost(clientSecret)),
    {
      timeout: TIMEOUT_S,
      [client.customFetch]: fetchLimited,
      // Without these checks, the ID token would be trusted for its connection alone. The schema of the configuration
      // permits http only for addresses of this machine.
      execute: [
        client.enableNonRepudiationChecks,
        ...(issuer.protocol === "http:" ? [client.allowInsecureRequests] : []),
      ],
    },
  );
  const { jwks_uri } = configuration.serverMetadata();
  if (jwks_uri === undefined) throw new OidcError("failed", "the provider's metadata have no jwks_uri");
  const keys = createRemoteJWKSet(new URL(jwks_uri), {
    timeoutDuration: TIMEOUT_S * 1000,
    [customFetch]: fetchLimited,
  });
  return { configuration, keys };
}

/** Both libraries read responses without a limit. */
async function fetchLimited(url: string, init: object): Promise<Response> {
  return limitResponse(await fetch(url, init));
}

/** Sends the client secret as the provider's metadata say. The default of the specification is `basic`. */
function chooseAuthentication(basic: ClientAuth, post: ClientAuth): ClientAuth {
  return (server, ...rest) => {
    const { token_endpoint_auth_methods_supported: methods = [] } = server;
    const isPost = methods.includes("client_secret_post") && !methods.includes("client_secret_basic");
    (isPost ? post : basic)(server, ...rest);
  };
}

/**
 * Creates a function that returns the provider of the current settings. Its metadata are read at first use, after a
 * change of the settings, and once an hour. If reading them again fails, the previous ones stay in use.
 */
export function createProviderCache(now: () => number): (settings: OidcSettings) => Promise<Provider> {
  let cached:
    | { readonly key: string; readonly since: number; readonly provider: Promise<Provider> }
    | undefined;
  return (settings) => {
    const key = JSON.stringify([settings.issuer, settings.clientId, settings.clientSecret]);
    const last = cached?.key === key ? cached : undefined;
    if (last !== undefined && now() - last.since < METADATA_MS) return last.provider;
    const provider = discoverProvider(settings);
    const entry = { key, since: now(), provider };
    cached = entry;
    provider.catch(() => {
      if (cached === entry) cached = last;
    });
    return last === undefined ? provider : provider.catch(() => last.provider);
  };
}
