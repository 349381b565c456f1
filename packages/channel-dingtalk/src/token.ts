import { type ChannelContext, ChannelError, createRequests, rejectOnAbort, textAt } from "@signalbox/channel";
import type { DingTalkConfig } from "./config.ts";
import { CREDENTIALS, readError } from "./errors.ts";
import { limits } from "./limits.ts";

/** The app's access token. */
export interface AccessToken {
  /**
   * Returns the token, and requests it if it is unknown or about to expire. Concurrent callers share one request.
   *
   * @throws ChannelError `auth` if the credentials are wrong
   */
  get(signal: AbortSignal): Promise<string>;
  /** Discards the token, because DingTalk has rejected it. */
  forget(): void;
}

export function createToken(
  context: Pick<ChannelContext<DingTalkConfig>, "config" | "fetch" | "clock">,
): AccessToken {
  const { clientId, clientSecret, apiBaseUrl } = context.config;
  const requests = createRequests({ ...context, platform: "DingTalk", credentials: CREDENTIALS, readError });
  let until = 0;
  let latest: Promise<string> | undefined;

  async function request(): Promise<string> {
    // No caller's signal, because concurrent callers share the request.
    const payload = await requests.json({
      what: "requesting an access token",
      url: `${apiBaseUrl}/v1.0/oauth2/accessToken`,
      body: { appKey: clientId, appSecret: clientSecret },
      write: false,
      signal: AbortSignal.timeout(limits.requestTimeoutMs),
    });
    const token = textAt(payload, "accessToken");
    const seconds = Number(payload["expireIn"]);
    if (token === undefined || !(seconds > 0))
      throw new ChannelError("transient", "DingTalk: the response contains no access token", {
        scope: "account",
      });
    until = context.clock.now() + seconds * 1_000 - limits.tokenMarginMs;
    return token;
  }

  return {
    get(signal) {
      if (latest === undefined || context.clock.now() >= until) {
        until = Number.POSITIVE_INFINITY;
        const asked = request();
        latest = asked;
        asked.catch(() => {
          if (latest === asked) latest = undefined;
        });
      }
      return rejectOnAbort(
        latest,
        signal,
        () => new ChannelError("transient", "DingTalk: aborted while it waited for an access token"),
      );
    },
    forget() {
      until = 0;
    },
  };
}
