import { setTimeout as delay } from "node:timers/promises";
import { isJsonObject, type JsonObject } from "@signalbox/agent-core";
import { limitResponse } from "@signalbox/channel";
import { USER_AGENT } from "./bearer-fetch.ts";
import { GITHUB_HOST } from "./copilot.ts";
import type { CredentialsOf } from "./credentials.ts";
import { describeErrors, getErrorCode, isHeaderValue, REQUEST_MS, SubscriptionError } from "./errors.ts";

/** Identifies the account. The API requires no further scope. */
const SCOPE = "read:user";
/** Interval between two requests for the token if GitHub states none, in seconds (RFC 8628). */
const DEFAULT_INTERVAL_S = 5;
/** Increase of the interval after `slow_down`, in seconds (RFC 8628). */
const SLOW_DOWN_S = 5;

export interface CopilotSignInOptions {
  /** Client id of the operator's OAuth app. */
  readonly clientId: string;
  /** Default: `github.com`. */
  readonly githubHost?: string | undefined;
  /** Address of the authorization server. Default: that of the host. */
  readonly issuer?: string;
  /** Returns milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
  /** Waits between two requests. Default: a timer. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

export interface DeviceCode {
  /** The code that the person enters. */
  readonly userCode: string;
  /** The page on which the person enters it. */
  readonly page: string;
  /** Lifetime of the code in milliseconds. */
  readonly lifetimeMs: number;
  /**
   * Waits until the person has approved the access.
   *
   * @throws SubscriptionError
   */
  finish(signal: AbortSignal): Promise<Omit<CredentialsOf<"copilot">, "baseUrl">>;
}

/**
 * Requests a device code (RFC 8628) for the operator's OAuth app.
 *
 * @throws SubscriptionError
 */
export async function startCopilotSignIn(options: CopilotSignInOptions): Promise<DeviceCode> {
  const { clientId, githubHost = GITHUB_HOST, now = Date.now } = options;
  const { issuer = `https://${githubHost}` } = options;
  const { sleep = (ms, signal) => delay(ms, undefined, { signal }) } = options;
  const oauth = await import("oauth4webapi");
  const server = {
    issuer,
    device_authorization_endpoint: `${issuer}/login/device/code`,
    token_endpoint: `${issuer}/login/oauth/access_token`,
  };
  const client = { client_id: clientId, token_endpoint_auth_method: "none" };
  const getOptions = (signal?: AbortSignal) => ({
    // A redirect would send the device code to another server.
    [oauth.customFetch]: async (url: string, init: object) =>
      toStandardError(await fetch(url, { ...init, redirect: "error" })),
    // A test uses a server on loopback.
    [oauth.allowInsecureRequests]: issuer.startsWith("http://127.0.0.1:"),
    headers: { "user-agent": USER_AGENT },
    signal: () =>
      AbortSignal.any([AbortSignal.timeout(REQUEST_MS), ...(signal === undefined ? [] : [signal])]),
  });

  const device = await describeErrors("GitHub issued no device code", async () => {
    const parameters = { scope: SCOPE };
    const response = await oauth.deviceAuthorizationRequest(
      server,
      client,
      oauth.None(),
      parameters,
      getOptions(),
    );
    if (response.status === 404) throw new SubscriptionError(UNKNOWN_CLIENT, true);
    return oauth.processDeviceAuthorizationResponse(server, client, response).catch(throwDeviceError);
  });
  const page = URL.parse(device.verification_uri);
  // A page of another server could ask for the person's password.
  if (page?.origin !== new URL(issuer).origin)
    throw new SubscriptionError(`GitHub named a page of another server: ${page?.host ?? "no address"}`, true);
  if (!/^[A-Za-z0-9-]{4,20}$/.test(device.user_code))
    throw new SubscriptionError("GitHub issued a malformed code", true);

  async function requestToken(signal: AbortSignal) {
    let intervalS = device.interval ?? DEFAULT_INTERVAL_S;
    for (;;) {
      await sleep(intervalS * 1_000, signal);
      const response = await oauth.deviceCodeGrantRequest(
        server,
        client,
        oauth.None(),
        device.device_code,
        getOptions(signal),
      );
      try {
        return await oauth.processDeviceCodeResponse(server, client, response);
      } catch (error) {
        const code = getErrorCode(error);
        if (code === "authorization_pending") continue;
        if (code !== "slow_down" || !(error instanceof oauth.ResponseBodyError)) throwDeviceError(error);
        const { interval } = error.cause;
        intervalS = Math.max(intervalS + SLOW_DOWN_S, typeof interval === "number" ? interval : 0);
      }
    }
  }

  return {
    userCode: device.user_code,
    page: page.href,
    lifetimeMs: device.expires_in * 1_000,
    finish: (signal) =>
      describeErrors("the sign-in failed", async () => {
        const { access_token: accessToken, expires_in: seconds } = await requestToken(signal);
        if (!isHeaderValue(accessToken)) throw new SubscriptionError("GitHub issued a malformed token", true);
        const expiresAt = seconds === undefined ? {} : { expiresAt: now() + seconds * 1_000 };
        return { subscription: "copilot", accessToken, ...expiresAt };
      }),
  };
}

const UNKNOWN_CLIENT = "GitHub does not know the OAuth app. Correct `clientId`";

/**
 * Error codes of the device flow. Source:
 * https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
 */
const DEVICE_ERRORS: Readonly<Record<string, string>> = {
  access_denied: "the access was refused on GitHub's page",
  expired_token: "the code has expired. Run the command again",
  device_flow_disabled:
    'the OAuth app does not allow the device flow. Select "Enable Device Flow" in its settings',
  incorrect_client_credentials: UNKNOWN_CLIENT,
  incorrect_device_code: "GitHub does not know the device code. Run the command again",
};

function throwDeviceError(error: unknown): never {
  const code = getErrorCode(error) ?? "";
  throw Object.hasOwn(DEVICE_ERRORS, code) ? new SubscriptionError(DEVICE_ERRORS[code] ?? code, true) : error;
}

/** GitHub reports OAuth errors with the status 200. RFC 6749 requires 400. */
async function toStandardError(response: Response): Promise<Response> {
  if (response.status !== 200) return limitResponse(response);
  const text = await limitResponse(response).text();
  const status = parseJson(text)?.error === undefined ? 200 : 400;
  return new Response(text, { status, headers: { "content-type": "application/json" } });
}

function parseJson(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
