import { reasonOf } from "@signalbox/agent-core";
import { FailureError, failure } from "../failure/failure.ts";
import type { FetchLike } from "./provider.ts";
import { type HttpRequest, requestFor } from "./transport.ts";

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

/** What an SDK is given that asks for a key where there is none: a server of one's own may ask for no key. */
export const NO_KEY = "no-key";

/**
 * The request that an SDK makes, caught before it is sent. The SDK knows the vendor's addresses, headers and bodies; of
 * an answer each parses every delta several times over, and keeps less of a refusal.
 * It carries no header with the key that is none.
 * @param ask calls the SDK with the `fetch` it is to use
 */
export async function requestOf(ask: (fetch: FetchLike) => PromiseLike<unknown>): Promise<HttpRequest> {
  let made: HttpRequest | undefined;
  await ask(async (...asked) => {
    made = await requestFor(...asked);
    return new Response("", { headers: { "content-type": "text/event-stream" } });
  });
  if (made === undefined) throw new Error("The SDK made no request.");
  const headers = Object.entries(made.headers).filter(([, value]) => !value.endsWith(NO_KEY));
  return { ...made, headers: Object.fromEntries(headers) };
}
