import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { now } from "./report.ts";

/** What the model answers: a text; `calls` tool calls one after the other and then a text; or nothing at all. */
export type Manner =
  | { readonly kind: "text" }
  | { readonly kind: "calls"; readonly calls: number }
  | { readonly kind: "hang" };

/** A model on the Anthropic wire that answers at once, with bytes made beforehand. */
export interface ZeroLatencyModel {
  readonly url: string;
  manner: Manner;
  /** When each request had arrived in full, and when its answer had been handed to the socket. */
  readonly turns: { readonly seenAt: number; answeredAt: number; readonly messages: number }[];
  stop(): Promise<void>;
}

const HEADERS = { "content-type": "text/event-stream; charset=utf-8", "request-id": "req_bench" };
const TEXT = stream([{ type: "text", text: "" }], [{ type: "text_delta", text: "Done." }], "end_turn");
const CALL = (id: number): string =>
  stream(
    [{ type: "tool_use", id: `toolu_${id}`, name: "ls", input: {} }],
    // The same call over and over would be stopped.
    [{ type: "input_json_delta", partial_json: `{"path":"${"./".repeat(id % 50)}."}` }],
    "tool_use",
  );

export async function startModel(): Promise<ZeroLatencyModel> {
  const turns: ZeroLatencyModel["turns"] = [];
  let calls = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const seenAt = now();
      const body = Buffer.concat(chunks).toString("latin1");
      const turn = { seenAt, answeredAt: seenAt, messages: count(body, '{"role":"') };
      turns.push(turn);
      const { manner } = model;
      if (manner.kind === "hang") return;
      const asks = manner.kind === "calls" && count(body, '"type":"tool_result"') < manner.calls;
      response.writeHead(200, HEADERS);
      response.end(asks ? CALL(++calls) : TEXT);
      turn.answeredAt = now();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const model: ZeroLatencyModel = {
    url: `http://127.0.0.1:${port}`,
    manner: { kind: "text" },
    turns,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return model;
}

function count(text: string, part: string): number {
  let found = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) found++;
  return found;
}

/** The events of https://platform.claude.com/docs/en/build-with-claude/streaming in one piece. */
function stream(blocks: readonly object[], deltas: readonly object[], stopReason: string): string {
  const message = {
    id: "msg_bench",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-6",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 1 },
  };
  const events: { readonly type: string }[] = [
    { type: "message_start", message },
    ...blocks.flatMap((block, index) => [
      { type: "content_block_start", index, content_block: block },
      { type: "content_block_delta", index, delta: deltas[index] },
      { type: "content_block_stop", index },
    ]),
    {
      type: "message_delta",
      delta: { stop_reason: stopReason, stop_sequence: null },
      usage: { output_tokens: 15 },
    },
    { type: "message_stop" },
  ] as { type: string }[];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}
