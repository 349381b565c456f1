import type { Outcome, PlannedTurn } from "./plan.ts";

// The least there can be: an async generator of ready-made vendor events and a loop written by hand.

type FloorEvent =
  | { readonly type: "start"; readonly index: number; readonly block: FloorBlock }
  | { readonly type: "text"; readonly index: number; readonly delta: string }
  | { readonly type: "json"; readonly index: number; readonly delta: string }
  | { readonly type: "stop"; readonly index: number };

interface FloorBlock {
  readonly type: "text" | "call";
  readonly id: string;
  text: string;
  input: { value?: string };
}

async function* model(turn: PlannedTurn): AsyncGenerator<FloorEvent> {
  if (turn.kind === "text") {
    yield { type: "start", index: 0, block: { type: "text", id: "", text: "", input: {} } };
    for (const delta of turn.deltas) yield { type: "text", index: 0, delta };
    yield { type: "stop", index: 0 };
    return;
  }
  for (let index = 0; index < turn.calls.length; index++) {
    const call = turn.calls[index];
    if (call === undefined) continue;
    yield { type: "start", index, block: { type: "call", id: call.id, text: "", input: {} } };
    for (const delta of call.pieces) yield { type: "json", index, delta };
    yield { type: "stop", index };
  }
}

async function execute(input: { value?: string }): Promise<string> {
  return `ok ${input.value}`;
}

export async function runFloor(plan: readonly PlannedTurn[]): Promise<Outcome> {
  const messages: unknown[] = [{ role: "user", content: "go" }];
  let calls = 0;
  let deltas = 0;
  for (const turn of plan) {
    const content: FloorBlock[] = [];
    let json = "";
    for await (const event of model(turn)) {
      const block = content[event.index];
      switch (event.type) {
        case "start":
          content[event.index] = event.block;
          json = "";
          break;
        case "text":
          if (block) block.text += event.delta;
          deltas++;
          break;
        case "json":
          json += event.delta;
          break;
        case "stop":
          if (block?.type === "call") block.input = JSON.parse(json);
      }
    }
    messages.push({ role: "assistant", content });
    const asked = content.filter((block) => block.type === "call");
    if (asked.length === 0) return { text: content.map((block) => block.text).join(""), calls, deltas };
    const results = await Promise.all(
      asked.map(async (block) => ({ id: block.id, content: await execute(block.input) })),
    );
    calls += results.length;
    messages.push({ role: "user", content: results });
  }
  return { text: "", calls, deltas };
}
