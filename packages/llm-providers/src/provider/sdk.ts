import { reasonOf } from "@signalbox/agent-core";
import { FailureError, failure } from "../failure/failure.ts";
import type { ModelRequest } from "./define-provider.ts";
import type { FetchLike } from "./provider.ts";

/**
 * Imports a vendor's SDK, an optional peer dependency.
 * @throws FailureError (`invalid`) with the install command if the package is missing.
 */
export async function loadSdk<Sdk>(name: string, load: () => Promise<Sdk>): Promise<Sdk> {
  try {
    return await load();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    // The missing package may also be a dependency of the SDK.
    if (!code.endsWith("MODULE_NOT_FOUND") || !reasonOf(error).includes(`'${name}`)) throw error;
    const message = `This model needs the package ${name}, which is not installed. Run: npm install ${name}`;
    throw new FailureError(failure("invalid", message));
  }
}

/**
 * Sends a request through a vendor's SDK and returns the unread response, regardless of its status.
 *
 * The SDK gets an empty response instead, because the SDKs' own stream readers lose information: they hide the keep-
 * alives that the idle timeout counts, drop unknown events and fields (Mistral's validates each chunk), fail on a JSON
 * body instead of a stream, and keep only part of an error response.
 *
 * @param call runs one request of the SDK with the given `fetch`
 */
export async function sendThroughSdk(
  { fetch, signal }: Pick<ModelRequest, "fetch" | "signal">,
  call: (fetch: FetchLike) => PromiseLike<unknown>,
): Promise<Response> {
  let sent: Promise<Response> | undefined;
  const sendOnce: FetchLike = async (input, init) => {
    // The SDKs abort their own signal as soon as the empty response is garbage-collected.
    sent = fetch(input, { ...init, signal });
    await sent;
    return new Response("", { headers: { "content-type": "text/event-stream" } });
  };
  try {
    await call(sendOnce);
  } catch (error) {
    // If `fetch` failed, the SDK's error wraps the rejection of `sent`.
    if (sent === undefined) throw error;
  }
  if (sent === undefined) throw new Error("The SDK sent no request.");
  return sent;
}
