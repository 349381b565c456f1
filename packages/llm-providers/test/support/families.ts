import type { Model } from "@signalbox/agent-core";
import type { Recording } from "@signalbox/testkit/wire";
import { anthropicMessages } from "../../src/anthropic/index.ts";
import { googleGenerative } from "../../src/google/index.ts";
import { mistralChat } from "../../src/mistral/index.ts";
import { openaiChat } from "../../src/openai-chat/index.ts";
import { openaiResponses } from "../../src/openai-responses/index.ts";
import type { Provider } from "../../src/provider/provider.ts";

/** One wire format and its recordings. */
export interface Family {
  readonly provider: Provider;
  readonly model: Model;
  readonly speaks: (recording: Recording) => boolean;
}

function family(provider: Provider, speaks: Family["speaks"], extra: Partial<Model> = {}): Family {
  const model: Model = {
    id: "recorded",
    provider: "recorded",
    api: provider.api,
    contextWindow: 100_000,
    maxOutputTokens: 8_000,
    input: ["text"],
    thinking: [],
    tools: "native",
    ...extra,
  };
  return { provider, model, speaks };
}

/** Matches by path, without its query. Other endpoints of a vendor refuse in the same words, so they are included. */
const at = (path: RegExp, host?: (name: string) => boolean): Family["speaks"] => {
  return (one) => path.test(one.path.split("?")[0] ?? "") && host?.(one.host) !== false;
};
const mistral = (host: string): boolean => host.includes("mistral");

export const families: readonly Family[] = [
  family(anthropicMessages, at(/\/messages(?:\/count_tokens)?$/)),
  // A stream that resumes an earlier response has the address of that response.
  family(openaiResponses, at(/\/responses(?:\/resp_[^/]+)?$/), { thinking: ["off", "high"] }),
  family(mistralChat, at(/\/chat\/completions$/, mistral)),
  family(
    openaiChat,
    at(/\/(?:chat\/completions|embeddings)$/, (host) => !mistral(host)),
    {
      quirks: { thinkTags: false },
    },
  ),
  family(googleGenerative, at(/:(?:generateContent|streamGenerateContent|countTokens|batchEmbedContents)$/), {
    id: "gemini-recorded",
  }),
];
