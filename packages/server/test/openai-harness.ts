import { createOpenAI } from "@ai-sdk/openai";
import OpenAI, { APIError } from "openai";
import type { Outcome } from "../src/index.ts";
import { openServer, TOKEN } from "./harness.ts";
import { createMemoryService, type MemoryService } from "./memory-service.ts";

export const MODEL = "signalbox/second";
export const hello = { model: MODEL, messages: [{ role: "user" as const, content: "hello" }] };

/** Starts a server for one test, with OpenAI's and Vercel's clients. */
export async function open(service: MemoryService = createMemoryService(() => said("hi"))) {
  const { url } = await openServer(service);
  const baseURL = `${url}/v1`;
  return {
    service,
    url,
    openai: (options: { maxRetries?: number; timeout?: number } = {}) =>
      new OpenAI({ apiKey: TOKEN, baseURL, maxRetries: 0, ...options }),
    vercel: createOpenAI({ apiKey: TOKEN, baseURL }),
  };
}

export function said(text: string): Outcome {
  return { state: "replied", text };
}

export async function refusal(call: () => PromiseLike<unknown>): Promise<APIError> {
  const error: unknown = await call().then(
    () => new Error("the request was not refused"),
    (reason: unknown) => reason,
  );
  if (error instanceof APIError) return error;
  throw error;
}
