import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type FakeServer, json, listen, type SeenRequest } from "../http.ts";
import type { Script, ScriptedTurn } from "../script.ts";
import { type EncodedTurn, encodeTurn, sse } from "./encode.ts";
import { refusalOf } from "./refuse.ts";

export interface AnthropicOptions {
  readonly script: Script;
  /** Accepted keys. Absent: any key. */
  readonly apiKeys?: readonly string[];
  /** Ids that `GET /v1/models` lists. The default contains one that no catalogue knows. */
  readonly models?: readonly string[];
  /** Maximum number of tokens in a request, estimated as four characters each. Default: 200,000. */
  readonly contextWindow?: number;
  /** Default: 32 MB, the vendor's limit. */
  readonly maxBodyBytes?: number;
  /** False skips the checks and does not store requests, for load tests. Default: true. */
  readonly check?: boolean;
  /** True accepts signatures of thinking that the fake server did not create. Default: false. */
  readonly trustThinking?: boolean;
  readonly port?: number;
}

/** A received request, including refused ones. */
export interface AnthropicRequest extends SeenRequest {
  /** The parsed body. `undefined` if it was not JSON. */
  readonly body: unknown;
  /** The HTTP status of the response. */
  readonly status: number;
}

/** A running fake server for the Messages API. */
export interface FakeAnthropic extends FakeServer {
  readonly requests: readonly AnthropicRequest[];
}

const VERSION = /^\d{4}-\d{2}-\d{2}$/;

/** Returns the key from either header that the vendor accepts. Newer SDKs send it as a bearer token. */
function credential(request: SeenRequest): string | undefined {
  const { "x-api-key": key, authorization } = request.headers;
  if (typeof key === "string" && key !== "") return key;
  const bearer = typeof authorization === "string" ? /^Bearer (.+)$/.exec(authorization)?.[1] : undefined;
  return bearer;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function write(response: ServerResponse, turn: ScriptedTurn, encoded: EncodedTurn): Promise<void> {
  const { fault, error, deltaMs = 0, pace } = turn;
  const { events } = encoded;
  if (fault === undefined && error === undefined && deltaMs === 0 && pace === undefined) {
    response.end(Buffer.concat(events));
    return;
  }
  const until = fault?.afterEvents ?? error?.afterEvents ?? events.length;
  for (let i = 0; i < events.length && i < until; i++) {
    await pace?.(i);
    if (response.destroyed) return;
    response.write(events[i]);
    if (deltaMs > 0) await sleep(deltaMs);
  }
  if (fault?.kind === "stall") return;
  if (fault?.kind === "cut") {
    // Send the bytes that were written before the connection breaks.
    setImmediate(() => response.destroy());
    return;
  }
  if (fault?.kind === "garbage") {
    response.end(
      Buffer.from(
        'event: content_block_delta\ndata: {"type":"content_block_delta",\u0000 ÿþ<html>\n\n',
        "latin1",
      ),
    );
    return;
  }
  if (error !== undefined)
    response.write(
      sse({
        type: "error",
        error: { type: error.type ?? "overloaded_error", message: error.message ?? "Overloaded" },
      }),
    );
  response.end();
}

const TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  504: "timeout_error",
  529: "overloaded_error",
};

interface Refused {
  readonly status: number;
  readonly type: string;
  readonly message: string;
  readonly headers?: Record<string, string>;
}

function refused(status: number, type: string, message: string): Refused {
  return { status, type, message };
}

const MODELS = ["claude-of-tomorrow", "claude-sonnet-4-6", "claude-haiku-4-5"];

/** Returns the body of `GET /v1/models`. Source: https://platform.claude.com/docs/en/api/models/list */
function listModels(ids: readonly string[]) {
  const data = ids.map((id) => ({
    type: "model",
    id,
    display_name: id,
    created_at: "2026-01-01T00:00:00Z",
  }));
  return { data, has_more: false, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null };
}

/** Returns true for a request of the list of models, with any method. */
function isModelList({ path }: SeenRequest): boolean {
  return path.split("?", 1)[0] === "/v1/models";
}

/** Checks everything in a request except its body. */
function wrongRequest(
  request: SeenRequest,
  { apiKeys, maxBodyBytes = 32 * 1024 * 1024 }: AnthropicOptions,
): Refused | undefined {
  const isList = isModelList(request);
  if (!isList && request.path.split("?", 1)[0] !== "/v1/messages")
    return refused(404, "not_found_error", "Not found");
  if (request.method !== (isList ? "GET" : "POST"))
    return refused(405, "invalid_request_error", "Method Not Allowed");
  const key = credential(request);
  if (key === undefined) return refused(401, "authentication_error", "x-api-key header is required");
  if (apiKeys !== undefined && !apiKeys.includes(key))
    return refused(401, "authentication_error", "invalid x-api-key");
  const version = request.headers["anthropic-version"];
  if (typeof version !== "string")
    return refused(400, "invalid_request_error", "anthropic-version: header is required");
  if (!VERSION.test(version))
    return refused(400, "invalid_request_error", `anthropic-version: "${version}" is not a valid version.`);
  if (isList) return undefined;
  if (!/^application\/json/.test(String(request.headers["content-type"])))
    return refused(415, "invalid_request_error", "content-type: must be application/json");
  if (Buffer.byteLength(request.text) > maxBodyBytes)
    return refused(413, "request_too_large", "Request exceeds the maximum allowed number of bytes.");
  return undefined;
}

/** Returns the error that the script contains instead of an answer, if any. */
function scriptedRefusal({ error }: ScriptedTurn): Refused | undefined {
  if (error === undefined || error.afterEvents !== undefined) return undefined;
  const { status, type = TYPES[status] ?? "api_error", message = "Scripted refusal", retryAfter } = error;
  return {
    status,
    type,
    message,
    headers: retryAfter === undefined ? undefined : { "retry-after": String(retryAfter) },
  };
}

/** Starts a fake server for Anthropic's Messages API and its list of models, which refuses the same requests. */
export async function startAnthropic(options: AnthropicOptions): Promise<FakeAnthropic> {
  const { script, check = true, trustThinking = false, contextWindow = 200_000 } = options;
  const requests: AnthropicRequest[] = [];
  const thoughtFor = new Set<string>();
  const ready = new WeakMap<ScriptedTurn, Buffer>();
  let answered = 0;
  let serial = 0;

  function wrong(request: SeenRequest, body: unknown): Refused | undefined {
    const problem = wrongRequest(request, options);
    if (problem !== undefined) return problem;
    if (isModelList(request)) return undefined;
    if (body === undefined)
      return refused(400, "invalid_request_error", "The request body is not valid JSON");
    if (!check) return undefined;
    const tokens = Math.ceil(request.text.length / 4);
    return refusalOf(body, { tokens, window: contextWindow }, { thoughtFor, trustThinking });
  }

  const fakeServer = await listen(async (request, response) => {
    const requestId = `req_fake${String(++serial).padStart(6, "0")}`;
    const body = parse(request.text);
    const fields = typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
    const note = (status: number): void => {
      if (check) requests.push({ ...request, body, status });
    };
    const fail = ({ status, type, message, headers }: Refused): void => {
      note(status);
      const answer = { type: "error", error: { type, message }, request_id: requestId };
      json(response, status, answer, { "request-id": requestId, ...headers });
    };

    const problem = wrong(request, body);
    if (problem !== undefined) return fail(problem);
    if (isModelList(request)) {
      note(200);
      return json(response, 200, listModels(options.models ?? MODELS), { "request-id": requestId });
    }
    const index = answered++;
    const turn = typeof script === "function" ? await script(body, index) : script[index];
    if (turn === undefined) return fail(refused(500, "api_error", `The script has no turn ${index}`));
    if (turn.delayMs !== undefined && turn.delayMs > 0) await sleep(turn.delayMs);
    const refusal = scriptedRefusal(turn);
    if (refusal !== undefined) return fail(refusal);

    note(200);
    const headers = { "request-id": requestId, "anthropic-organization-id": "org_fake" };
    const cached = ready.get(turn);
    if (cached !== undefined && fields.stream === true) {
      response.writeHead(200, { ...headers, "content-type": "text/event-stream; charset=utf-8" });
      response.end(cached);
      return;
    }
    const encoded = encodeTurn(turn, String(fields.model), index);
    if (turn.thinking !== undefined) for (const id of encoded.callIds) thoughtFor.add(id);
    if (fields.stream !== true) return json(response, 200, encoded.message, headers);
    response.writeHead(200, {
      ...headers,
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
    });
    const plain = turn.fault === undefined && turn.error === undefined && turn.pace === undefined;
    if (!check && plain && (turn.deltaMs ?? 0) === 0) ready.set(turn, Buffer.concat(encoded.events));
    await write(response, turn, encoded);
  }, options.port);
  return { ...fakeServer, requests };
}
