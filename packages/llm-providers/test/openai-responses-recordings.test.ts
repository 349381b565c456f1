import type { Model } from "@signalbox/agent-core";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { openaiResponses } from "../src/openai-responses/index.ts";
import { recorded, titleOf } from "./support/recordings.ts";
import { answering, inPieces, type Replay, replay } from "./support/replay.ts";

const model: Model = {
  id: "recorded",
  provider: "recorded",
  api: "openai-responses",
  contextWindow: 100_000,
  maxOutputTokens: 8_000,
  input: ["text"],
  thinking: ["off", "high"],
  tools: "native",
};

const found = recorded(
  (one) => one.method === "POST" && one.path.split("?")[0]?.endsWith("/responses") === true,
);

function replayOf(host: string): Replay {
  return { provider: openaiResponses, model, baseUrl: `https://${host}/v1` };
}

/** Reads the same bytes with the SDK's own helper. */
async function helper(bytes: Uint8Array): Promise<OpenAI.Responses.Response> {
  const client = new OpenAI({ apiKey: "test", maxRetries: 0, logLevel: "off", fetch: answering(bytes) });
  return client.responses.stream({ model: "recorded", input: "Hello." }).finalResponse();
}

/** OpenRouter sends another id for the same reasoning in every event. */
function idOf(id: unknown): unknown {
  return typeof id === "string" && id.startsWith("rs_tmp_") ? "rs_tmp" : id;
}

/**
 * Converts the output of a response to the form of our blocks. The last event encrypts reasoning again, so only its
 * presence is compared.
 */
function blocksOf(response: OpenAI.Responses.Response): unknown[] {
  const blocks: unknown[] = [];
  for (const item of response.output) {
    if (item.type === "message") {
      for (const part of item.content) {
        blocks.push(part.type === "output_text" ? ["text", part.text] : ["refusal", part.refusal]);
      }
    } else if (item.type === "function_call")
      blocks.push(["toolCall", item.call_id, item.name, item.arguments]);
    else if (item.type === "reasoning") {
      const parts = item.summary.length > 0 ? item.summary : (item.content ?? []);
      blocks.push([
        "thinking",
        parts.map((part) => part.text).join("\n\n"),
        idOf(item.id),
        typeof item.encrypted_content,
      ]);
    } else if (item.type === "image_generation_call") blocks.push(["image", item.result]);
    else blocks.push([item.type, item.id]);
  }
  return blocks.filter((block) => !(Array.isArray(block) && block[0] === "text" && block[1] === ""));
}

/** Edited by hand: the last event differs from the stream. We keep what was streamed. */
const EDITED: readonly string[] = ["openai-shell-container.1.chunks.txt"];

/** The helper rejects unknown events and changing ids, which recordings of other servers contain. */
const STRICTER = /Unhandled response stream event|Lifecycle response identity changed/;

/** Items of server-side tools come in the order in which they finished, so they are compared separately. */
function inOrder(blocks: unknown[]): unknown[] {
  const said = blocks.filter(
    (block) => Array.isArray(block) && /^(text|refusal|thinking|toolCall)$/.test(block[0]),
  );
  const rest = blocks.filter((block) => !said.includes(block)).map((block) => JSON.stringify(block));
  return [...said, ...rest.sort()];
}

describe.skipIf(found === undefined)("recorded responses", () => {
  test.each((found?.streams ?? []).map((one) => [titleOf(one), one] as const))("%s", async (_, recording) => {
    const bytes = Buffer.from(recording.res);
    const replayed = replayOf(recording.host);
    const whole = await replay(replayed, { pieces: [bytes] });
    const inSmallest = await replay(replayed, { pieces: inPieces(bytes) });
    expect(inSmallest.message).toEqual(whole.message);

    const theirs = await helper(bytes).catch((error: unknown) =>
      error instanceof Error ? error : undefined,
    );
    if (theirs instanceof Error || theirs === undefined) {
      const strict = STRICTER.test(theirs?.message ?? "");
      expect(whole.terminal.type, `the helper fails: ${theirs?.message}`).toBe(strict ? "finish" : "error");
    } else {
      expect(whole.terminal.type).toBe("finish");
      const ours = whole.message.content.flatMap((block): unknown[] => {
        const data = block.native?.data;
        const native = typeof data === "object" && data !== null && !Array.isArray(data) ? { ...data } : {};
        switch (block.type) {
          case "text":
          case "refusal":
            return [[block.type, block.text]];
          case "toolCall":
            return [["toolCall", block.id, block.name, block.argsText]];
          case "thinking":
            return [
              [
                "thinking",
                block.text,
                idOf(Reflect.get(native, "id")),
                typeof Reflect.get(native, "encrypted_content"),
              ],
            ];
          case "image":
            return [["image", block.source.kind === "base64" ? block.source.data : ""]];
          case "opaque":
            return [[Reflect.get(native, "type"), Reflect.get(native, "id")]];
          default:
            return [];
        }
      });
      if (!EDITED.includes(titleOf(recording))) expect(inOrder(ours)).toEqual(inOrder(blocksOf(theirs)));
      expect(whole.message.responseId).toBe(theirs.id);
      if (theirs.usage) {
        expect(whole.message.usage?.input.total).toBe(theirs.usage.input_tokens);
        expect(whole.message.usage?.output.total).toBe(theirs.usage.output_tokens);
      }
    }
  });

  test.each((found?.refusals ?? []).map((one) => [titleOf(one), one] as const))(
    "refusal %s",
    async (_, recording) => {
      const told = await replay(replayOf(recording.host), {
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
