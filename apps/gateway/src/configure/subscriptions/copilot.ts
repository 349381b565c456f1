import { isJsonObject, type JsonObject } from "@signalbox/agent-core";
import type { FetchLike } from "@signalbox/llm-providers";
import { parseJson, readResponse } from "../read-response.ts";
import type { BearerVendor } from "./bearer-fetch.ts";
import type { KnownRefusal } from "./errors.ts";

export const GITHUB_HOST = "github.com";
/** Time limit for the list of models, in milliseconds. */
const LIST_MS = 10_000;
/** Maximum size of the list, in bytes. */
const MAX_LIST_BYTES = 20_000_000;
/** Maximum number of listed models. */
const MAX_MODELS = 200;

/** Returns the base URL of the API for a host of GitHub. */
export function getCopilotUrl(githubHost: string = GITHUB_HOST): string {
  return githubHost === GITHUB_HOST ? "https://api.githubcopilot.com" : `https://copilot-api.${githubHost}`;
}

const REFUSALS: readonly KnownRefusal[] = [
  {
    words: /quota_exceeded|no quota|premium request (?:allowance|limit)/i,
    code: "billing",
    reason: "the requests of the Copilot plan are used up",
    remedy: "Allow paid requests at https://github.com/settings/copilot, or use a model with an API key.",
  },
  {
    words: /not authorized to use this copilot feature|enterprise or organization policy/i,
    code: "auth",
    reason: "the Copilot plan or a policy of the organization does not allow this",
    remedy: "Check https://github.com/settings/copilot, or use a model with an API key.",
  },
  {
    words: /personal access tokens? (?:is|are) not supported/i,
    code: "auth",
    reason: "GitHub accepts only tokens of OAuth apps",
  },
];

/** GitHub's Chat Completions API for a Copilot plan. */
export const copilot: BearerVendor = {
  addHeaders(headers, body) {
    const messages = readMessages(body);
    headers.set("openai-intent", "conversation-edits");
    // GitHub charges a request of the plan for each request of the initiator `user`.
    headers.set("x-initiator", messages.at(-1)?.role === "user" ? "user" : "agent");
    if (messages.some(hasImage)) headers.set("copilot-vision-request", "true");
  },
  explain(status, body) {
    const refusal = REFUSALS.find(({ words }) => words.test(body));
    if (refusal !== undefined) return refusal;
    if (status === 402) return REFUSALS[0];
    if (status === 401)
      return { code: "auth", reason: "GitHub refuses the token, which may be revoked or expired" };
    if (status !== 403 && status !== 421) return undefined;
    return {
      code: "auth",
      reason: "GitHub does not allow this OAuth app or account to use this address of Copilot",
      remedy: "GitHub may not have approved the app, or may end this access. Use a model with an API key.",
    };
  },
};

function readMessages(body: string): readonly JsonObject[] {
  const parsed: unknown = body === "" ? undefined : JSON.parse(body);
  const messages = isJsonObject(parsed) ? parsed.messages : undefined;
  return Array.isArray(messages) ? messages.filter(isJsonObject) : [];
}

function hasImage({ content }: JsonObject): boolean {
  return Array.isArray(content) && content.some((part) => isJsonObject(part) && part.type === "image_url");
}

interface CopilotModel {
  readonly id: string;
  /** In tokens. */
  readonly contextWindow?: number;
}

/**
 * Lists the chat models that GitHub offers to the account.
 *
 * @param fetch adds the token
 * @throws FailureError if GitHub refuses the account or the app, Error if the list has more than 20,000,000 bytes
 */
export async function listCopilotModels(fetch: FetchLike, baseUrl: string): Promise<readonly CopilotModel[]> {
  const response = await fetch(`${baseUrl.replace(/\/+$/, "")}/models`, {
    headers: { accept: "application/json" },
    signal: AbortSignal.timeout(LIST_MS),
  });
  const body = parseJson(await readResponse(response, MAX_LIST_BYTES));
  const data = response.ok && isJsonObject(body) && Array.isArray(body.data) ? body.data : [];
  return data.slice(0, MAX_MODELS).flatMap((each: unknown): CopilotModel[] => {
    if (!isJsonObject(each) || typeof each.id !== "string" || !/^[\w.:/-]{1,100}$/.test(each.id)) return [];
    const { type, limits } = toObject(each.capabilities);
    if (type !== undefined && type !== "chat") return [];
    const { max_context_window_tokens: contextWindow } = toObject(limits);
    return [{ id: each.id, ...(typeof contextWindow === "number" && { contextWindow }) }];
  });
}

function toObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
