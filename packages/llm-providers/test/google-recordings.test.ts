import { type GenerateContentResponse, GoogleGenAI, type Part } from "@google/genai";
import type { Model } from "@signalbox/agent-core";
import { describe, expect, test } from "vitest";
import { googleGenerative } from "../src/google/index.ts";
import { recorded, titleOf } from "./support/recordings.ts";
import { answering, inPieces, type Replay, replay } from "./support/replay.ts";

const model: Model = {
  id: "gemini-recorded",
  provider: "recorded",
  api: "google-generative",
  contextWindow: 100_000,
  maxOutputTokens: 8_000,
  input: ["text"],
  thinking: [],
  tools: "native",
};
const replayed: Replay = { provider: googleGenerative, model, baseUrl: "https://google.test" };

const found = recorded((one) => /:(streamG|g)enerateContent/.test(one.path));

/** Reads the chunks with the vendor's SDK. */
async function chunksOf(bytes: Uint8Array): Promise<GenerateContentResponse[]> {
  const client = new GoogleGenAI({
    vertexai: false,
    apiKey: "test",
    httpOptions: { fetch: answering(bytes) },
  });
  const chunks: GenerateContentResponse[] = [];
  for await (const chunk of await client.models.generateContentStream({
    model: "gemini-recorded",
    contents: "Hello.",
  })) {
    chunks.push(chunk);
  }
  return chunks;
}

function parts(chunks: readonly GenerateContentResponse[]): Part[] {
  return chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
}

/** The values that are streamed after a call, by path, with strings joined. */
function assigned(following: readonly Part[]): Map<string, string> {
  const values = new Map<string, string>();
  for (const { functionCall } of following) {
    if (functionCall === undefined || functionCall.name) break;
    for (const { jsonPath = "", stringValue, numberValue } of functionCall.partialArgs ?? []) {
      values.set(jsonPath, `${values.get(jsonPath) ?? ""}${stringValue ?? numberValue ?? ""}`);
    }
  }
  return values;
}

/** The same for complete arguments. */
function leaves(value: unknown, path = "$"): [path: string, value: string][] {
  if (Array.isArray(value)) return value.flatMap((item, i) => leaves(item, `${path}[${i}]`));
  if (typeof value !== "object" || value === null) return [[path, String(value)]];
  return Object.entries(value).flatMap(([key, item]) => leaves(item, `${path}.${key}`));
}

describe.skipIf(found === undefined)("recorded Gemini streams", () => {
  test.each((found?.streams ?? []).map((one) => [titleOf(one), one] as const))("%s", async (_, recording) => {
    const bytes = Buffer.from(recording.res);
    const whole = await replay(replayed, { pieces: [bytes] });
    const inSmallest = await replay(replayed, { pieces: inPieces(bytes) });
    expect(inSmallest.message).toEqual(whole.message);

    const chunks = await chunksOf(bytes);
    const theirs = parts(chunks);
    const last = chunks.at(-1);
    const text = (thought: boolean): string =>
      theirs.map((part) => (Boolean(part.thought) === thought ? (part.text ?? "") : "")).join("");
    const ours = whole.message.content;
    expect(ours.map((block) => (block.type === "text" ? block.text : "")).join("")).toBe(text(false));
    expect(ours.map((block) => (block.type === "thinking" ? block.text : "")).join("")).toBe(text(true));
    const calls = ours.filter((block) => block.type === "toolCall");
    const made = theirs.flatMap(({ functionCall: call }, i) => {
      if (!call?.name) return [];
      return [[call.name, call.args ? leaves(call.args) : [...assigned(theirs.slice(i + 1))]]];
    });
    expect(calls.map((call) => [call.name, leaves(call.args)])).toEqual(made);
    const signatures = JSON.stringify(ours.map((block) => block.native?.data ?? null));
    for (const part of theirs) if (part.thoughtSignature) expect(signatures).toContain(part.thoughtSignature);
    const reason = chunks.findLast((chunk) => chunk.candidates?.[0]?.finishReason)?.candidates?.[0]
      ?.finishReason;
    if (reason === undefined) expect(whole.terminal.type).toBe("error");
    else if (whole.terminal.type === "finish") expect(whole.message.rawStopReason).toBe(reason);
    else expect(reason).toMatch(/MALFORMED|UNEXPECTED|OTHER/);
    if (whole.terminal.type === "finish" && last?.usageMetadata) {
      expect(whole.message.usage?.output.reasoning).toBe(last.usageMetadata.thoughtsTokenCount);
      expect(whole.message.usage?.input.cacheRead).toBe(last.usageMetadata.cachedContentTokenCount);
    }
  });

  test.each((found?.refusals ?? []).map((one) => [titleOf(one), one] as const))(
    "refusal %s",
    async (_, recording) => {
      const told = await replay(replayed, {
        pieces: [Buffer.from(recording.res)],
        status: recording.status,
        headers: { "content-type": recording.ctype },
      });
      expect(told.terminal).toMatchObject({
        type: "error",
        error: { code: "invalid", retryable: false, status: recording.status, emitted: false },
      });
    },
  );
});
