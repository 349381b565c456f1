import OpenAI, { APIError, type ClientOptions } from "openai";
import { type Started, TOKEN } from "./harness.ts";

/** OpenAI's client of a gateway, which says of everything what became of it the first time. */
export function clientOf({ url }: Pick<Started, "url">, options: ClientOptions = {}): OpenAI {
  return new OpenAI({ apiKey: TOKEN, baseURL: `${url}/v1`, maxRetries: 0, ...options });
}

/** What the client of OpenAI was refused with. */
export async function refusal(call: () => PromiseLike<unknown>): Promise<APIError> {
  const error: unknown = await call().then(
    () => new Error("it was not refused"),
    (reason: unknown) => reason,
  );
  if (error instanceof APIError) return error;
  throw error;
}
