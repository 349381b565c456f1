import type { FetchLike } from "../provider.ts";

/** A `fetch` to give to an SDK, and the answer it got. */
export interface Capture {
  readonly fetch: FetchLike;
  /** The accepted answer, unread; `undefined` before it came, and where the vendor refused. */
  response(): Response | undefined;
}

/**
 * Lets an SDK make a request (its validation, serialisation, headers and errors) and keeps the accepted stream for
 * ourselves: the SDKs that offer no raw response parse each delta several times over, and turn errors in mid-stream
 * into exceptions without the vendor's words. Refusals go through to the SDK.
 *
 * @param edit changes the body before it is sent.
 */
export function captured(send: FetchLike, edit: (body: string) => string = (body) => body): Capture {
  let kept: Response | undefined;
  return {
    async fetch(input, init) {
      const response = await (input instanceof Request
        ? sendRequest(send, input, edit)
        : send(input, withBody(init, edit)));
      if (!response.ok) return response;
      kept = response;
      return new Response(new ReadableStream({ start: (controller) => controller.close() }), {
        status: response.status,
        headers: { "content-type": response.headers.get("content-type") ?? "text/event-stream" },
      });
    },
    response: () => kept,
  };
}

function withBody(init: RequestInit | undefined, edit: (body: string) => string): RequestInit {
  return typeof init?.body === "string" ? { ...init, body: edit(init.body) } : { ...init };
}

async function sendRequest(
  send: FetchLike,
  request: Request,
  edit: (body: string) => string,
): Promise<Response> {
  const { method, headers, signal } = request;
  const body = edit(await request.text());
  return send(request.url, { method, headers, signal, ...(body === "" ? {} : { body }) });
}
