import Anthropic from "@anthropic-ai/sdk";
import type { AssistantMessage, Block, Model } from "@signalbox/agent-core";
import { describe, expect, test } from "vitest";
import { anthropicMessages } from "../src/anthropic/index.ts";
import { type ReadTurn, readTurn, type WireAnswer, wire } from "../src/testkit/index.ts";
import { eventEnds } from "../src/testkit/wire.ts";
import { recorded, titleOf } from "./support/recordings.ts";
import { inPieces } from "./support/replay.ts";

const model: Model = {
  id: "recorded",
  provider: "anthropic",
  api: "anthropic-messages",
  contextWindow: 200_000,
  maxOutputTokens: 8_000,
  input: ["text"],
  thinking: [],
  tools: "native",
};

const found = recorded((one) => one.host === "api.anthropic.com");

function read(answer: WireAnswer): Promise<ReadTurn> {
  const stream = anthropicMessages.connect({ apiKey: "k", fetch: wire(answer).fetch, now: () => 0 });
  return readTurn(
    stream(model, {
      system: { stable: "" },
      messages: [{ role: "user", content: "Hello.", timestamp: 0 }],
      tools: [],
    }),
  );
}

/** Reads the same bytes with the SDK's own helper. */
function helper(bytes: Uint8Array): Promise<Anthropic.Message> {
  const client = new Anthropic({
    apiKey: "k",
    maxRetries: 0,
    logLevel: "off",
    fetch: wire({ pieces: [bytes] }).fetch,
  });
  return client.messages
    .stream({ model: "recorded", max_tokens: 10, messages: [{ role: "user", content: "Hello." }] })
    .finalMessage();
}

/** Converts our block to the helper's form. It puts citations into the text, we put them after it. */
function inTheirTerms(block: Block): unknown[] {
  const data = block.native?.data;
  const fields = typeof data === "object" && data !== null && !Array.isArray(data) ? { ...data } : {};
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text }];
    case "thinking":
      return "redacted" in fields
        ? [{ type: "redacted_thinking", data: fields.redacted }]
        : [
            {
              type: "thinking",
              thinking: block.text,
              signature: "signature" in fields ? fields.signature : "",
            },
          ];
    case "toolCall":
      return [{ type: "tool_use", id: block.id, name: block.name, input: block.args }];
    case "opaque":
      // The helper of the stable API omits the input of a remote tool's call.
      return ["type" in fields && fields.type === "mcp_tool_use" ? { ...fields, input: {} } : fields];
    default:
      return [];
  }
}

function reduced(block: Anthropic.ContentBlock): unknown {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "tool_use":
      return { type: "tool_use", id: block.id, name: block.name, input: block.input };
    default:
      return JSON.parse(JSON.stringify(block));
  }
}

const citations = (message: AssistantMessage): number =>
  message.content.filter((block) => block.type === "citation").length;

describe.skipIf(found === undefined)("recorded Anthropic streams", () => {
  test.each((found?.streams ?? []).map((one) => [titleOf(one), one] as const))("%s", async (_, recording) => {
    const bytes = Buffer.from(recording.res);
    const whole = await read({ pieces: [bytes] });
    const inSmallest = await read({ pieces: inPieces(bytes) });
    expect(inSmallest.message).toEqual(whole.message);

    const theirs = await helper(bytes).catch((error: unknown) =>
      error instanceof Error ? error : new Error(),
    );
    if (theirs instanceof Error) {
      // The helper fails at a second message_start, which some recordings have. We accept it before any content or
      // after the first answer, and fail if two answers are mixed.
      expect(recording.res.split('"type":"message_start"').length, theirs.message).toBeGreaterThan(2);
      expect(whole.error?.code).toBe(recording.src.includes("spliced") ? "protocol" : undefined);
      return;
    }
    expect(whole.error).toBeUndefined();
    expect(whole.message.content.flatMap(inTheirTerms)).toEqual(theirs.content.map(reduced));
    expect(whole.message.rawStopReason).toBe(theirs.stop_reason);
    expect(whole.message.responseId).toBe(theirs.id);
    expect(whole.message.usage?.output.total).toBe(theirs.usage.output_tokens);
    expect(whole.message.usage?.input.uncached).toBe(theirs.usage.input_tokens);
    expect(citations(whole.message)).toBe(
      theirs.content.reduce(
        (sum, block) => sum + (block.type === "text" ? (block.citations?.length ?? 0) : 0),
        0,
      ),
    );
  });

  test("every stream that is cut ends once and runs no tools", async () => {
    for (const recording of found?.streams ?? []) {
      const bytes = Buffer.from(recording.res);
      const edges = eventEnds(bytes).flatMap((end) => [end - 2, end - 1, end]);
      const sample = Math.ceil(edges.length / 40);
      // Some recordings contain several answers. The first one is complete with its stop reason.
      const complete = bytes.indexOf("event: message_stop") - 2;
      const delta = bytes.indexOf('{"type":"message_delta"');
      const said = complete > 0 ? complete : bytes.indexOf("\n", delta);
      for (const cut of edges.filter((_, at) => at % sample === 0)) {
        const turn = await read({
          pieces: [bytes.subarray(0, cut)],
          ending: cut % 2 === 0 ? "end" : "break",
        });
        if (turn.error === undefined) expect(cut).toBeGreaterThanOrEqual(said);
        else expect(turn.message.stopReason).toBe("error");
      }
    }
  });

  test("every recorded refusal is classified", async () => {
    for (const { status, res } of found?.refusals ?? []) {
      const turn = await read({
        status,
        headers: { "content-type": "application/json", "request-id": "req_1" },
        pieces: [Buffer.from(res)],
      });
      expect(turn.error, res).toMatchObject({
        code: "invalid",
        status,
        requestId: "req_1",
        retryable: false,
      });
    }
  });
});
