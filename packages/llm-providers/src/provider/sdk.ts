import { reasonOf } from "@signalbox/agent-core";
import { FailureError, failure } from "../failure/failure.ts";
import type { FetchLike } from "./provider.ts";

/** For SDKs with a time-out of their own, in milliseconds: longer than any turn, which watches for silence itself. */
export const SDK_TIMEOUT_MS = 2_000_000_000;

/**
 * Imports a vendor's SDK, an optional peer dependency.
 * @throws FailureError (`invalid`) with the command that adds the package, where it is not installed.
 */
export async function loadSdk<Sdk>(name: string, load: () => Promise<Sdk>): Promise<Sdk> {
  try {
    return await load();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    // It may be another package that it lacks.
    if (!code.endsWith("MODULE_NOT_FOUND") || !reasonOf(error).includes(`'${name}`)) throw error;
    const said = `The package ${name} is needed for this model and is not installed. Add it with: npm install ${name}`;
    throw new FailureError(failure("invalid", said));
  }
}

/** Makes a value at the first call and keeps it; one that could not be made is made again at the next call. */
export function keptOnce<T>(make: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined;
  return () => {
    kept ??= make().catch((error: unknown) => {
      kept = undefined;
      throw error;
    });
    return kept;
  };
}

/**
 * The answer to a request that an SDK makes, unread: those that offer no raw response parse each delta several times
 * over, and turn errors in mid-stream into exceptions without the vendor's words.
 * @param ask calls the SDK with the `fetch` it is to use
 * @param edit changes the body before it is sent
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
