import type { AssistantMessage, Message, Model } from "@signalbox/agent-core";
import type { Recording } from "@signalbox/testkit/wire";
import { describe, expect, test } from "vitest";
import { adapt } from "../src/adapt/index.ts";
import { anthropicMessages } from "../src/anthropic/index.ts";
import { googleGenerative } from "../src/google/index.ts";
import { mistralChat } from "../src/mistral/index.ts";
import { openaiChat } from "../src/openai-chat/index.ts";
import { openaiResponses } from "../src/openai-responses/index.ts";
import type { Provider } from "../src/provider.ts";
import { readTurn, wire } from "../src/testkit/index.ts";
import { requestChecker } from "./spec.ts";
import { result, tools, user } from "./support/conversations.ts";
import { recorded } from "./support/recordings.ts";
import { bodyOf } from "./support/requests.ts";

interface Vendor {
  readonly provider: Provider;
  readonly model: Model;
  readonly baseUrl: string;
  readonly recordedAt: (recording: Recording) => boolean;
  readonly spec: () => ReturnType<typeof requestChecker>;
}

const vendor = (
  provider: Provider,
  name: string,
  id: string,
  baseUrl: string,
  recordedAt: Vendor["recordedAt"],
  spec: Vendor["spec"],
): Vendor => ({
  provider,
  model: {
    id,
    provider: name,
    api: provider.api,
    contextWindow: 200_000,
    maxOutputTokens: 8_000,
    input: ["text", "image", "file"],
    thinking: [],
    tools: "native",
  },
  baseUrl,
  recordedAt,
  spec,
});

const endsWith = (recording: Recording, end: string): boolean =>
  recording.path.split("?")[0]?.endsWith(end) === true;

const VENDORS: readonly Vendor[] = [
  vendor(
    anthropicMessages,
    "anthropic",
    "claude-sonnet-4-6",
    "https://api.anthropic.com",
    (one) => endsWith(one, "/messages"),
    () => requestChecker("anthropic.yaml", "/v1/messages"),
  ),
  vendor(
    openaiResponses,
    "openai",
    "gpt-5.2",
    "https://api.openai.com/v1",
    (one) => one.host === "api.openai.com" && endsWith(one, "/responses"),
    () => requestChecker("openai.yaml", "/responses", { OutputTextContent: ["logprobs"] }),
  ),
  vendor(
    openaiChat,
    "chat",
    "gpt-4.1",
    "https://api.openai.com/v1",
    (one) => one.host === "api.openai.com" && endsWith(one, "/chat/completions"),
    () => requestChecker("openai.yaml", "/chat/completions"),
  ),
  vendor(
    mistralChat,
    "mistral",
    "mistral-medium-latest",
    "https://api.mistral.ai",
    (one) => one.host === "api.mistral.ai",
    () => requestChecker("mistral.yaml", "/v1/chat/completions"),
  ),
  vendor(
    googleGenerative,
    "google",
    "gemini-2.5-flash",
    "https://generativelanguage.googleapis.com",
    (one) => one.host === "generativelanguage.googleapis.com",
    () => requestChecker("gemini.json", "/models/{modelsId}:streamGenerateContent"),
  ),
];

/** What a vendor's recorded answers are to us, each answered as a host would. */
async function historyOf({ provider, model, baseUrl, recordedAt }: Vendor): Promise<Message[]> {
  const found = recorded(recordedAt);
  const messages: Message[] = [];
  for (const recording of found?.streams ?? []) {
    const { fetch } = wire({ pieces: [Buffer.from(recording.res)] });
    const stream = provider.connect({ apiKey: "k", baseUrl, fetch, now: () => 0 });
    const { message } = await readTurn(
      stream(model, { system: { stable: "" }, messages: [user("Go.")], tools: [] }),
    );
    messages.push(user("Go on."), message);
    for (const block of message.content)
      if (block.type === "toolCall")
        messages.push(result(block.id, block.name, [{ type: "text", text: "Done." }]));
  }
  return [...messages, user("And now?")];
}

const histories = new Map<Vendor, Promise<Message[]>>();
function history(of: Vendor): Promise<Message[]> {
  const known = histories.get(of) ?? historyOf(of);
  histories.set(of, known);
  return known;
}

const assistants = (messages: readonly Message[]): AssistantMessage[] =>
  messages.filter((message) => message.role === "assistant");

const available = recorded((one) => one.host === "api.anthropic.com") !== undefined;
const pairs = VENDORS.flatMap((from) =>
  VENDORS.map((to) => [from.model.api, to.model.api, from, to] as const),
);

describe.skipIf(!available)("recorded conversations handed over", () => {
  test.each(pairs)("from %s to %s", async (_from, _to, from, to) => {
    const messages = await history(from);
    expect(messages.length).toBeGreaterThan(3);
    const { messages: adapted, losses } = adapt(messages, to.model);

    // Nothing that only its maker understands travels; the maker itself gets everything back, but for the citations it
    // does not take.
    const natives = assistants(adapted).flatMap((message) =>
      message.content.flatMap((block) => block.native ?? []),
    );
    for (const { api, provider, model } of natives)
      expect([api, provider, model]).toEqual([to.model.api, to.model.provider, to.model.id]);
    if (from === to) {
      const kinds = losses.map((loss) => loss.kind);
      expect(kinds.filter((kind) => !["empty", "partial", "call-id", "citation"].includes(kind))).toEqual([]);
      const cited = assistants(messages).flatMap((message) =>
        message.content.filter((block) => block.type === "citation"),
      );
      expect(kinds.filter((kind) => kind === "citation")).toHaveLength(
        cited.filter((block) => block.native === undefined).length,
      );
    }

    // What was said in words arrives, whoever said it.
    const words = (all: readonly Message[]): string[] =>
      assistants(all).flatMap((message) =>
        message.content.flatMap((block) => (block.type === "text" ? block.text : [])),
      );
    const arrived = words(adapted);
    expect(words(messages).length).toBeGreaterThan(2);
    let next = 0;
    for (const said of words(messages)) {
      const at = arrived.indexOf(said, next);
      expect(at, said.slice(0, 80)).toBeGreaterThanOrEqual(next);
      next = at + 1;
    }
    for (const loss of losses) expect(messages[loss.message]).toBeDefined();

    const body = await bodyOf(
      to.provider,
      to.model,
      { context: { system: { stable: "Be brief." }, messages, tools }, options: {} },
      to.baseUrl,
    );
    // What a vendor's server-side tools said goes back to it byte for byte, which its document need not describe.
    if (from !== to) expect(to.spec()?.problems(body) ?? []).toEqual([]);
  });
});
