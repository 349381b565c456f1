import {
  type ChannelContext,
  createRequests,
  type ErrorMeaning,
  type ErrorResponse,
  objectAt,
  type Payload,
  textAt,
} from "@signalbox/channel";
import type { IMessageConfig } from "../config.ts";
import { limits } from "../limits.ts";

interface BlueBubblesRequest {
  readonly what: string;
  readonly path: string;
  readonly body?: object;
  readonly write?: boolean;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

export interface BlueBubblesApi {
  json(request: BlueBubblesRequest): Promise<Payload>;
  open(request: BlueBubblesRequest): Promise<Response>;
}

/** The server accepts its password only in the query. Errors and logs contain no URLs. */
export function createApi(
  { baseUrl, password }: Extract<IMessageConfig, { baseUrl: unknown }>,
  { fetch, clock }: Pick<ChannelContext, "fetch" | "clock">,
): BlueBubblesApi {
  const requests = createRequests({
    fetch,
    clock,
    platform: "iMessage",
    credentials: ["password"],
    timeoutMs: limits.requestTimeoutMs,
    readError,
  });
  const toRequest = ({ path, ...request }: BlueBubblesRequest) => {
    const url = new URL(`${baseUrl}/api/v1/${path}`);
    url.searchParams.set("password", password);
    return { ...request, url };
  };
  return {
    json: (request) => requests.json(toRequest(request)),
    open: (request) => requests.open(toRequest(request)),
  };
}

/** Source: `responses/errors.ts` and `messageValidator.ts` of the server. */
function readError({ status, payload = {} }: ErrorResponse): ErrorMeaning {
  const reason = textAt(objectAt(payload, "error"), "message") ?? textAt(payload, "message");
  if (reason !== undefined && /already queued/i.test(reason)) return { code: "unknown_outcome", reason };
  if (reason !== undefined && /private api/i.test(reason)) return { code: "unsupported", reason };
  if (status === 400 && reason !== undefined && /does not exist|not found/i.test(reason))
    return { code: "not_found", reason };
  return { reason };
}
