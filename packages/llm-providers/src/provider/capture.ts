import type { FetchLike } from "./provider.ts";

/**
 * Has an SDK make a request (its validation, serialisation and headers) and takes the accepted answer for
 * ourselves: the SDKs that offer no raw response parse each delta several times over, and turn errors in mid-stream
 * into exceptions without the vendor's words.
 *
 * @param ask calls the SDK with the `fetch` it is to use; what it throws is passed on.
 * @param edit changes the body before it is sent.
 */
export async function acceptedResponse(
  send: FetchLike,
  ask: (fetch: FetchLike) => Promise<unknown>,
  edit: (body: string) => string = (body) => body,
): Promise<Response> {
  let accepted: Response | undefined;
  await ask(async (input, init) => {
    const { url, ...request } = await plainRequest(input, init);
    const body = typeof request.body === "string" ? edit(request.body) : request.body;
    accepted = await send(url, { ...request, ...(body ? { body } : {}) });
    return new Response("", { headers: { "content-type": "text/event-stream" } });
  });
  if (accepted === undefined) throw new Error("The SDK made no request.");
  return accepted;
}

async function plainRequest(
  input: string | URL | Request,
  init: RequestInit | undefined,
): Promise<RequestInit & { readonly url: string | URL }> {
  if (!(input instanceof Request)) return { ...init, url: input };
  const { url, method, headers, signal } = input;
  return { url, method, headers, signal, body: await input.text() };
}
