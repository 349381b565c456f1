import { APIError } from "openai";

/** What the client of OpenAI was refused with. */
export async function refusal(call: () => PromiseLike<unknown>): Promise<APIError> {
  try {
    await call();
  } catch (error) {
    if (error instanceof APIError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}
