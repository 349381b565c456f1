import type { BlockHead, Model, StopReason, Usage } from "@signalbox/agent-core";
import type { Provider } from "../provider/provider.ts";
import type { TurnWriter } from "../turn/record.ts";
import { modelTurn } from "../turn/turn.ts";
import { nextMove } from "./program.ts";

const CHARS_PER_TOKEN = 4;
const DELTA_CHARS = 12;

/** The offline demo model, for a gateway without a key. */
export const demoModel: Model = {
  id: "demo",
  provider: "demo",
  api: "demo",
  name: "Offline demo",
  contextWindow: 200_000,
  maxOutputTokens: 8_192,
  input: ["text"],
  thinking: [],
  tools: "native",
};

/** @param lengths in characters */
function estimate(...lengths: readonly [input: number, output: number]): Usage {
  const [input, output] = lengths.map((length) => Math.ceil(length / CHARS_PER_TOKEN));
  return {
    input: { total: input, uncached: input, cacheRead: 0, cacheWrite: 0 },
    output: { total: output, reasoning: 0 },
    source: "estimated",
    costMicros: 0,
  };
}

/** Writes a block in small chunks, one per pull, without splitting a character, and ends the turn. */
function* tell(turn: TurnWriter, head: BlockHead, text: string, input: number, stop: StopReason) {
  const index = turn.open(head);
  const characters = [...text];
  for (let at = 0; at < characters.length; at += DELTA_CHARS) {
    turn.append(index, characters.slice(at, at + DELTA_CHARS).join(""));
    yield;
  }
  turn.close(index);
  turn.usage(estimate(input, text.length));
  turn.finish(stop);
}

/** A small deterministic program that acts as a model. It works offline, and each answer mentions that it is a demo. */
export const demo: Provider = {
  api: "demo",
  connect:
    ({ timeouts, now }) =>
    (model, context, options = {}) =>
      modelTurn({ model, options, timeouts, now }, async function* (turn) {
        if (options.json !== undefined) turn.warn("json_dropped", "The demo answers in sentences.");
        turn.start();
        const input = JSON.stringify(context.messages).length + context.system.stable.length;
        const move = nextMove(context);
        if (move.kind === "call") {
          // Unique in the conversation, and identical on each replay.
          const head = { type: "toolCall", id: `demo_${context.messages.length}`, name: move.name } as const;
          yield* tell(turn, head, JSON.stringify(move.args), input, "tool_use");
          return;
        }
        const { maxOutputTokens: most } = model;
        const said = move.text.slice(0, Math.min(options.maxOutputTokens ?? most, most) * CHARS_PER_TOKEN);
        const stop = said.length < move.text.length ? "max_tokens" : "end_turn";
        yield* tell(turn, { type: "text" }, said, input, stop);
      }),
};
