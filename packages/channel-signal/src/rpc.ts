import {
  type ChannelContext,
  createRequests,
  type ErrorMeaning,
  type ErrorResponse,
  isPayload,
  objectAt,
  type Payload,
  type PlatformRequest,
} from "@signalbox/channel";
import type { SignalConfig } from "./config.ts";
import { toError } from "./errors.ts";
import { limits } from "./limits.ts";

/** A call of a signal-cli command. */
export interface Call {
  /** The operation, for error messages, as in `sending a message`. */
  readonly what: string;
  /** True if the call has visible effects. If its response is lost, its outcome is unknown. */
  readonly write: boolean;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

/** The HTTP interface of the daemon. All methods throw only `ChannelError`. */
export interface SignalCli {
  /** Calls a command of the account and returns its result. */
  call(method: string, params: object, call: Call): Promise<unknown>;
  /** Calls a command and returns the unread response, which may be an error response with status 200. */
  open(method: string, params: object, call: Call): Promise<Response>;
  /** Opens the stream of received messages. */
  events(lastEventId: string | undefined, signal: AbortSignal): Promise<Response>;
}

/** Source: `signal-cli-jsonrpc(5)`. A daemon with several accounts needs the parameter `account`. */
export function createSignalCli(context: ChannelContext<SignalConfig>): SignalCli {
  const { account, baseUrl } = context.config;
  const requests = createRequests({
    fetch: context.fetch,
    clock: context.clock,
    platform: "Signal",
    timeoutMs: limits.requestTimeoutMs,
    readError: (response) => readError(response, account),
  });
  let id = 0;

  function createRequest(method: string, params: object, call: Call): PlatformRequest {
    id += 1;
    const body = { jsonrpc: "2.0", id, method, params: { account, ...params } };
    return { ...call, url: `${baseUrl}/api/v1/rpc`, body };
  }

  return {
    async call(method, params, call) {
      const response = await requests.json(createRequest(method, params, call));
      if (isPayload(response["error"])) throw toError(response["error"], call.what, call.write);
      return response["result"];
    },
    open: (method, params, call) => requests.open(createRequest(method, params, call)),
    events: (lastEventId, signal) =>
      requests.open({
        what: "listening for messages",
        url: `${baseUrl}/api/v1/events?account=${encodeURIComponent(account)}`,
        headers: {
          accept: "text/event-stream",
          ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
        },
        signal,
        timeoutMs: limits.connectMs,
      }),
  };
}

/** Errors of the HTTP server. Errors of commands have status 200. Source: `HttpServerHandler`. */
function readError({ status, payload = {} }: ErrorResponse, account: string): ErrorMeaning {
  if (status === 400)
    return {
      code: "auth",
      scope: "account",
      reason: `signal-cli has no account ${account}`,
      settings: ["account"],
    };
  if (status === 404)
    return {
      code: "auth",
      scope: "account",
      reason: "baseUrl is not the HTTP interface of signal-cli",
      settings: ["baseUrl"],
    };
  const reason = objectAt(payload, "error")["message"];
  return typeof reason === "string" ? { reason } : {};
}

/** Returns the object in a result, or an empty object. */
export function toPayload(result: unknown): Payload {
  return isPayload(result) ? result : {};
}
