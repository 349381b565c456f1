import type { Block, Model } from "@signalbox/agent-core";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { openaiChat } from "../src/openai-chat/index.ts";
import { recorded, titleOf } from "./support/recordings.ts";
import { answering, type FinishedTurn, inPieces, type Replay, replay } from "./support/replay.ts";

const model: Model = {
  id: "recorded",
  provider: "recorded",
  api: "openai-chat",
  contextWindow: 100_000,
  maxOutputTokens: 8_000,
  input: ["text"],
  thinking: [],
  tools: "native",
  quirks: { thinkTags: false },
};

const found = recorded(
  (one) => one.path.split("?")[0]?.endsWith("/chat/completions") === true && !one.host.includes("mistral"),
);

function replayOf(host: string): Replay {
  return { provider: openaiChat, model, baseUrl: `https://${host}/v1` };
}

function textOf(told: FinishedTurn, type: Block["type"]): string {
  return told.message.content
    .map((block) => (block.type === type && "text" in block ? block.text : ""))
    .join("");
}

/** Reads the same bytes with the SDK's own helper. */
async function helper(bytes: Uint8Array): Promise<OpenAI.ChatCompletion> {
  const client = new OpenAI({ apiKey: "test", maxRetries: 0, logLevel: "off", fetch: answering(bytes) });
  return client.chat.completions
    .stream({ model: "recorded", messages: [{ role: "user", content: "Hello." }] })
    .finalChatCompletion();
}

describe.skipIf(found === undefined)("recorded chat completions", () => {
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
      // The helper requires a role in the first delta, which some servers omit.
      const lenient = /missing role/.test(theirs?.message ?? "");
      expect(whole.terminal.type, `the helper fails: ${theirs?.message}`).toBe(lenient ? "finish" : "error");
    } else {
      const choice = theirs.choices[0];
      expect(whole.terminal.type).toBe("finish");
      expect(textOf(whole, "text")).toBe(choice?.message.content ?? "");
      expect(textOf(whole, "refusal")).toBe(choice?.message.refusal ?? "");
      expect(whole.message.rawStopReason).toBe(choice?.finish_reason);
      const calls = whole.message.content.filter((block) => block.type === "toolCall");
      expect(calls.map((call) => [call.id, call.name, call.argsText])).toEqual(
        (choice?.message.tool_calls ?? []).map((call) =>
          call.type === "function" ? [call.id, call.function.name, call.function.arguments] : [],
        ),
      );
      if (theirs.usage) {
        expect(whole.message.usage?.input.total).toBe(theirs.usage.prompt_tokens);
        const { prompt_tokens, completion_tokens, total_tokens, completion_tokens_details } = theirs.usage;
        const reasoning = completion_tokens_details?.reasoning_tokens ?? 0;
        // xAI counts reasoning outside of the completion.
        const isOutside = total_tokens === prompt_tokens + completion_tokens + reasoning;
        const output = isOutside ? completion_tokens + reasoning : completion_tokens;
        expect(whole.message.usage?.output.total).toBe(output);
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
        error: { status: recording.status, emitted: false },
      });
      if (told.terminal.type !== "error") return;
      expect(told.terminal.error.code).toBe(recording.status === 429 ? "rate_limit" : "invalid");
      expect(told.terminal.error.retryable).toBe(recording.status === 429);
    },
  );
});
