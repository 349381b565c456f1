import { HTTPClient, Mistral } from "@mistralai/mistralai";
import type { CompletionEvent } from "@mistralai/mistralai/models/components";
import type { Model } from "@signalbox/agent-core";
import { describe, expect, test } from "vitest";
import { mistralChat } from "../src/mistral/index.ts";
import { recorded, titleOf } from "./support/recordings.ts";
import { answering, inPieces, type Replay, replay } from "./support/replay.ts";

const model: Model = {
  id: "recorded",
  provider: "recorded",
  api: "mistral-chat",
  contextWindow: 100_000,
  maxOutputTokens: 8_000,
  input: ["text"],
  thinking: [],
  tools: "native",
};
const replayed: Replay = { provider: mistralChat, model, baseUrl: "https://mistral.test" };

const found = recorded((one) => one.host.includes("mistral") && one.path.endsWith("/chat/completions"));

/** Reads the events with the vendor's SDK. */
async function eventsOf(bytes: Uint8Array): Promise<CompletionEvent[]> {
  const httpClient = new HTTPClient({ fetcher: answering(bytes) });
  const client = new Mistral({ apiKey: "test", httpClient });
  const events: CompletionEvent[] = [];
  const stream = await client.chat.stream({
    model: "recorded",
    messages: [{ role: "user", content: "Hello." }],
  });
  for await (const event of stream) events.push(event);
  return events;
}

describe.skipIf(found === undefined)("recorded Mistral streams", () => {
  test.each((found?.streams ?? []).map((one) => [titleOf(one), one] as const))("%s", async (_, recording) => {
    const bytes = Buffer.from(recording.res);
    const whole = await replay(replayed, { pieces: [bytes] });
    const inSmallest = await replay(replayed, { pieces: inPieces(bytes) });
    expect(inSmallest.message).toEqual(whole.message);

    const deltas = (await eventsOf(bytes)).map((event) => event.data);
    let text = "";
    let thinking = "";
    for (const delta of deltas) {
      const content = delta.choices[0]?.delta.content;
      if (typeof content === "string") text += content;
      else {
        for (const part of content ?? []) {
          if (part.type === "text" && "text" in part) text += part.text;
          if (part.type !== "thinking" || !("thinking" in part)) continue;
          for (const piece of part.thinking) if ("text" in piece) thinking += piece.text;
        }
      }
    }
    const ours = whole.message.content;
    expect(ours.map((block) => (block.type === "text" ? block.text : "")).join("")).toBe(text);
    expect(ours.map((block) => (block.type === "thinking" ? block.text : "")).join("")).toBe(thinking);
    const theirs: [id: string | undefined, name: string, args: string][] = [];
    for (const call of deltas.flatMap((delta) => delta.choices[0]?.delta.toolCalls ?? [])) {
      const args = call.function.arguments;
      const piece = typeof args === "string" ? args : JSON.stringify(args);
      const last = theirs.at(-1);
      // Later pieces of a call have no name, and the id "null".
      if (call.function.name === "" && last !== undefined) last[2] += piece;
      else theirs.push([call.id, call.function.name, piece]);
    }
    const calls = ours.filter((block) => block.type === "toolCall");
    expect(calls.map((call) => [call.id, call.name, call.argsText])).toEqual(theirs);
    expect(whole.message.rawStopReason).toBe(
      deltas.findLast((delta) => delta.choices[0]?.finishReason)?.choices[0]?.finishReason,
    );
    expect(whole.message.usage?.input.total).toBe(
      deltas.findLast((delta) => delta.usage)?.usage?.promptTokens,
    );
  });
});
