import type { Message, Model } from "@signalbox/agent-core";
import type { Recording } from "@signalbox/testkit/wire";
import { describe, expect, test } from "vitest";
import { adapt } from "../src/adapt/adapt.ts";
import type { AdaptOptions } from "../src/adapt/convert.ts";
import { anthropicMessages } from "../src/anthropic/index.ts";
import { googleGenerative } from "../src/google/index.ts";
import { mistralChat } from "../src/mistral/index.ts";
import { openaiChat } from "../src/openai-chat/index.ts";
import { openaiResponses } from "../src/openai-responses/index.ts";
import type { Provider } from "../src/provider/provider.ts";
import type { Loss } from "../src/shared/warnings.ts";
import { readTurn, wire } from "../src/testkit/index.ts";
import { requestChecker } from "./spec.ts";
import { result, tools, user } from "./support/conversations.ts";
import { handedOver, interrupted, type Lost, wronglyPaired } from "./support/handed-over.ts";
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

/** Builds a history from a vendor's recorded answers. */
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

const available = recorded((one) => one.host === "api.anthropic.com") !== undefined;
const pairs = VENDORS.flatMap((from) =>
  VENDORS.map((to) => [from.model.api, to.model.api, from, to] as const),
);

/** All kinds. The compiler reports a missing one. */
const KINDS: Readonly<Record<Loss["kind"], true>> = {
  native: true,
  thinking: true,
  media: true,
  call_id: true,
  orphan_call: true,
  orphan_result: true,
  opaque: true,
  refusal: true,
  citation: true,
  partial: true,
  empty: true,
};

const sorted = (losses: readonly Lost[]): string[] =>
  losses.map(({ kind, message }) => `${message} ${kind}`).toSorted();

/** Compares a converted history with the expected one. */
function check(history: readonly Message[], target: Model): void {
  for (const options of [{}, { foreignThinking: "text" }] satisfies AdaptOptions[]) {
    const { messages, losses } = adapt(history, target, options);
    const wanted = handedOver(history, target, options);
    expect(sorted(losses)).toEqual(sorted(wanted.losses));
    expect(messages).toEqual(wanted.messages);
    expect(wronglyPaired(messages)).toEqual([]);
  }
}

describe.skipIf(!available)("recorded conversations continued with another vendor", () => {
  test("together have losses of every kind", async () => {
    const kinds = new Set<string>();
    for (const [, , from, to] of pairs)
      for (const { kind } of adapt(interrupted(await history(from), from.model), to.model).losses)
        kinds.add(kind);
    expect([...kinds].toSorted()).toEqual(Object.keys(KINDS).toSorted());
  });

  test.each(VENDORS.map((one) => [one.model.api, one] as const))(
    "from %s to another model of the same vendor",
    async (_, from) => {
      const { model } = from;
      const messages = await history(from);
      check(messages, { ...model, id: "another" });
      check(messages, { ...model, provider: "another" });
    },
  );

  test.each(pairs)("from %s to %s", async (_from, _to, from, to) => {
    const messages = await history(from);
    expect(messages.length).toBeGreaterThan(3);
    check(messages, to.model);
    check(interrupted(messages, from.model), to.model);

    const body = await bodyOf(
      to.provider,
      to.model,
      { context: { system: { stable: "Be brief." }, messages, tools }, options: {} },
      to.baseUrl,
    );
    // Results of server-side tools are sent back byte for byte, even if the API document does not describe them.
    if (from !== to) expect(to.spec()?.problems(body) ?? []).toEqual([]);
  });
});
