import type { Model } from "@signalbox/agent-core";
import type { Recording } from "@signalbox/testkit/wire";
import { anthropicMessages } from "../../src/anthropic/index.ts";
import { googleGenerative } from "../../src/google/index.ts";
import { mistralChat } from "../../src/mistral/index.ts";
import { openaiChat } from "../../src/openai-chat/index.ts";
import { openaiResponses } from "../../src/openai-responses/index.ts";
import type { Provider } from "../../src/provider.ts";

/** One wire format and the recordings that speak it. */
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

const endsWith = (recording: Recording, end: string): boolean =>
  recording.path.split("?")[0]?.endsWith(end) === true;

export const families: readonly Family[] = [
  family(anthropicMessages, (one) => endsWith(one, "/messages")),
  family(openaiResponses, (one) => endsWith(one, "/responses"), { thinking: ["off", "high"] }),
  family(mistralChat, (one) => one.host.includes("mistral") && endsWith(one, "/chat/completions")),
  family(openaiChat, (one) => !one.host.includes("mistral") && endsWith(one, "/chat/completions"), {
    quirks: { thinkTags: false },
  }),
  family(googleGenerative, (one) => /:(streamG|g)enerateContent/.test(one.path), { id: "gemini-recorded" }),
];
