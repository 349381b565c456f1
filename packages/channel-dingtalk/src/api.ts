import {
  type ChannelContext,
  createRequests,
  isChannelError,
  type Payload,
  type PlatformRequest,
} from "@signalbox/channel";
import { type DingTalkConfig, getRobotCode, getUploadBase } from "./config.ts";
import { CREDENTIALS, findOldError, readError, STALE_TOKEN } from "./errors.ts";
import { limits } from "./limits.ts";
import { createToken } from "./token.ts";

interface ApiCall {
  /** The operation, for error messages. */
  readonly what: string;
  readonly method?: "POST" | "PUT";
  /** For instance `/v1.0/robot/groupMessages/send`. */
  readonly path: string;
  readonly body: Payload;
  /** True if a repetition would be visible. */
  readonly write: boolean;
  readonly signal: AbortSignal;
}

/** DingTalk's APIs. All methods throw only `ChannelError`. */
export interface DingTalkApi {
  readonly robotCode: string;
  call(call: ApiCall): Promise<Payload>;
  /** Uploads a file without showing it to anyone. */
  upload(type: "image" | "voice" | "file", file: File, signal: AbortSignal): Promise<Payload>;
  /** Requests a connection for stream mode, for which the app authenticates with its secret. */
  openConnection(subscriptions: readonly Payload[], signal: AbortSignal): Promise<Payload>;
  /** Requests a token, which proves that the credentials are valid. */
  authenticate(signal: AbortSignal): Promise<void>;
}

export function createApi(
  context: Pick<ChannelContext<DingTalkConfig>, "config" | "fetch" | "clock">,
): DingTalkApi {
  const { config } = context;
  const { apiBaseUrl, clientId, clientSecret } = config;
  const token = createToken(context);
  const shared = {
    ...context,
    platform: "DingTalk",
    credentials: CREDENTIALS,
    timeoutMs: limits.requestTimeoutMs,
  };
  const withToken = createRequests({
    ...shared,
    headers: async (signal) => ({ "x-acs-dingtalk-access-token": await token.get(signal) }),
    readError,
  });
  const withSecret = createRequests({ ...shared, readError });
  const uploads = createRequests({ ...shared, readError, findError: findOldError });

  /** Repeats a request once with a new token. DingTalk has not carried out the first one. */
  async function withFreshToken(run: () => Promise<Payload>): Promise<Payload> {
    try {
      return await run();
    } catch (error) {
      if (!isChannelError(error) || error.platformCode !== STALE_TOKEN) throw error;
      token.forget();
      return run();
    }
  }

  return {
    robotCode: getRobotCode(config),
    call: ({ path, method = "POST", ...request }) =>
      withFreshToken(() => withToken.json({ ...request, method, url: apiBaseUrl + path })),
    upload: (type, file, signal) =>
      withFreshToken(async () => {
        const query = new URLSearchParams({ access_token: await token.get(signal), type });
        const body = new FormData();
        body.append("media", file);
        const request: PlatformRequest = {
          what: "uploading a file",
          url: `${getUploadBase(config)}/media/upload?${query}`,
          body,
          write: false,
          signal,
          timeoutMs: limits.uploadTimeoutMs,
        };
        return uploads.json(request);
      }),
    openConnection: (subscriptions, signal) =>
      withSecret.json({
        what: "opening a connection",
        url: `${apiBaseUrl}/v1.0/gateway/connections/open`,
        // Without this header, DingTalk responds with XML.
        headers: { accept: "application/json" },
        body: { clientId, clientSecret, ua: "signalbox", subscriptions },
        write: false,
        signal,
      }),
    async authenticate(signal) {
      token.forget();
      await token.get(signal);
    },
  };
}
