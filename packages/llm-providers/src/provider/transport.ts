import { isJsonObject } from "@signalbox/agent-core";
import type { Dispatcher } from "undici";
import { numberAt } from "../shared/json.ts";
import type { FetchLike } from "./provider.ts";
import { keptOnce } from "./sdk.ts";

/** A `Response` of these may not have a body. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

export const loadUndici = (): Promise<typeof import("undici")> => import("undici");

/** Whether a connection that had served before broke under this request, as when the server had just closed it. */
function keptConnectionBroke(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  if (error.code !== "UND_ERR_SOCKET") return error.code === "ECONNRESET" || error.code === "EPIPE";
  const socket = "socket" in error && isJsonObject(error.socket) ? error.socket : {};
  return (numberAt(socket, "bytesRead") ?? 0) > 0;
}

/**
 * A `fetch` over undici with kept connections, without time-outs: a turn watches for silence. It follows no redirects,
 * since a model server has no business sending a key elsewhere. Where a kept connection broke, it asks once more.
 */
export function undiciFetch(): FetchLike {
  const client = keptOnce(async () => {
    const { Agent, request } = await loadUndici();
    return { request, dispatcher: new Agent({ headersTimeout: 0, bodyTimeout: 0 }) };
  });
  return async (input, init = {}) => {
    const { method = "GET", body, signal, headers } = init;
    // No SDK sends anything but text; whatever else a host may try is left to the global one.
    if (input instanceof Request || (body !== undefined && body !== null && typeof body !== "string"))
      return fetch(input, init);
    const { request, dispatcher } = await client();
    const options = {
      dispatcher,
      method,
      headers: headers instanceof Headers ? headers : new Headers(headers),
      body: body ?? null,
      signal: signal ?? null,
    };
    const send = (): Promise<Dispatcher.ResponseData> => request(input, options);
    const answer = await send().catch((error: unknown) => {
      if (keptConnectionBroke(error) && signal?.aborted !== true) return send();
      throw error;
    });
    const status = answer.statusCode;
    if (WITHOUT_BODY.has(status)) await answer.body.dump();
    const stream = WITHOUT_BODY.has(status) ? null : ReadableStream.from(answer.body);
    const response = new Response(stream, { status });
    for (const [name, value] of Object.entries(answer.headers))
      for (const line of [value ?? []].flat()) response.headers.append(name, line);
    return response;
  };
}
