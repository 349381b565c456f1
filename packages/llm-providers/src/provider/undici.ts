import { isJsonObject } from "@signalbox/agent-core";
import type { Dispatcher } from "undici";
import { numberAt } from "../shared/json.ts";
import { keptOnce } from "../shared/once.ts";
import { DRAIN_BYTES, DRAIN_MS, type Transport } from "./transport.ts";

/** Over undici with kept connections. Where a kept connection broke, it asks once more. */
export function undiciTransport(): Transport {
  const client = keptOnce(async () => {
    const { Agent, request } = await import("undici");
    return { request, dispatcher: new Agent({ headersTimeout: 0, bodyTimeout: 0 }) };
  });
  let address: URL | undefined;
  return async ({ url, headers, body }, signal) => {
    const { request, dispatcher } = await client();
    // Mostly that of the last request; reading it takes longer than all else here.
    const to = address?.href === url ? address : new URL(url);
    address = to;
    const send = () => request(to, { dispatcher, method: "POST", headers, body, signal });
    const answer = await send().catch((error: unknown) => {
      if (keptConnectionBroke(error) && !signal.aborted) return send();
      throw error;
    });
    return {
      status: answer.statusCode,
      header: (name) => [answer.headers[name]].flat()[0],
      body: bytesOf(answer.body, signal),
    };
  };
}

/** Whether a connection that had served before broke under this request, as when the server had just closed it. */
function keptConnectionBroke(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  if (error.code !== "UND_ERR_SOCKET") return error.code === "ECONNRESET" || error.code === "EPIPE";
  const socket = "socket" in error && isJsonObject(error.socket) ? error.socket : {};
  return (numberAt(socket, "bytesRead") ?? 0) > 0;
}

type Body = Dispatcher.ResponseData["body"];

async function* bytesOf(body: Body, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* body.iterator({ destroyOnReturn: false });
  } finally {
    if (!signal.aborted && !body.readableEnded) drain(body);
  }
}

/** Reads what nobody wants to see. What breaks after the last word matters to nobody either. */
function drain(body: Body): void {
  const timer = setTimeout(() => body.destroy(), DRAIN_MS).unref();
  body.once("close", () => clearTimeout(timer));
  body.dump({ limit: DRAIN_BYTES }).catch(() => {});
}
