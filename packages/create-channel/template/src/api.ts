import {
  type ChannelContext,
  ChannelError,
  type ChannelErrorCode,
  deadline,
  encodePathSegment,
  failedToConnect,
  parsePayload,
  parseRetryAfter,
  textAt,
} from "@signalbox/channel";
import type { Config } from "./config.ts";

/** The platform's HTTP API. Every method throws ChannelError and no other error. */
export interface Api {
  /** The same key again gives the same message. Resolves with its id. */
  post(
    conversation: string,
    text: string,
    options: { readonly key: string; readonly replyTo: string | undefined; readonly signal: AbortSignal },
  ): Promise<string>;
  put(messageId: string, text: string, signal: AbortSignal): Promise<void>;
  remove(messageId: string, signal: AbortSignal): Promise<void>;
}

const requestTimeoutMs = 15_000;
/** How long to wait where the platform limits without naming a time. */
const defaultWaitMs = 1_000;

/** What each status means to the gateway. A 5xx leaves open whether the platform did what it was asked. */
const codes: Readonly<Record<number, ChannelErrorCode>> = {
  401: "auth",
  403: "permission",
  404: "not_found",
  413: "too_large",
  429: "rate_limited",
};

export function createApi({
  config,
  clock,
  fetch,
}: Pick<ChannelContext<Config>, "config" | "clock" | "fetch">): Api {
  async function request(method: string, path: string, body: unknown, signal: AbortSignal): Promise<string> {
    if (signal.aborted) throw new ChannelError("transient", "__LABEL__: given up before it was tried");
    const limit = deadline(requestTimeoutMs, signal);
    try {
      const response = await fetch(`${config.apiUrl}${path}`, {
        method,
        headers: { authorization: `Bearer ${config.token}`, "content-type": "application/json" },
        body: body === undefined ? null : JSON.stringify(body),
        signal: limit.signal,
      });
      if (!response.ok) throw refused(response, clock.now());
      return await response.text();
    } catch (error) {
      if (error instanceof ChannelError) throw error;
      // What left may have got there: only the platform knows. The key makes a second try harmless.
      throw new ChannelError(
        failedToConnect(error) ? "transient" : "unknown_outcome",
        `__LABEL__: ${method} ${path.split("/")[1]}: no answer`,
      );
    } finally {
      limit.end();
    }
  }

  return {
    async post(conversation, text, { key, replyTo, signal }) {
      const answer = parsePayload(
        await request("POST", "/messages", { conversation, text, key, replyTo }, signal),
      );
      const id = answer === undefined ? undefined : textAt(answer, "id");
      if (id === undefined) throw new ChannelError("unknown_outcome", "__LABEL__: sent, but without an id");
      return id;
    },
    async put(messageId, text, signal) {
      await request("PUT", `/messages/${encodePathSegment(messageId)}`, { text }, signal);
    },
    async remove(messageId, signal) {
      await request("DELETE", `/messages/${encodePathSegment(messageId)}`, undefined, signal);
    },
  };
}

function refused({ status, headers }: Response, now: number): ChannelError {
  const code = codes[status] ?? (status >= 500 ? "unknown_outcome" : "invalid");
  const waitMs = parseRetryAfter(headers.get("retry-after"), now) ?? defaultWaitMs;
  return new ChannelError(code, `__LABEL__: HTTP ${status}`, {
    scope: code === "auth" ? "account" : "message",
    platformCode: String(status),
    retryAfterMs: code === "rate_limited" ? waitMs : undefined,
  });
}
