import { row, spread } from "./report.ts";
import type { Setup } from "./setup.ts";
import type { Surface } from "./surfaces.ts";

const CALLS = 10;
const RUNS = 30;
const WARM = 12;

/** What lies between a model's tool call and the request with its result: the call decided, run and journalled. */
export async function measureToolTurns({ model, rawTurn }: Setup, surface: Surface): Promise<void> {
  model.manner = { kind: "calls", calls: CALLS };
  const gaps: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const before = model.turns.length;
    await surface.exchange(`tools-${run}`, `tools-${run}`);
    const turns = model.turns.slice(before);
    if (turns.length !== CALLS + 1) throw new Error(`${turns.length} requests instead of ${CALLS + 1}`);
    if (run < WARM) continue;
    for (const [index, turn] of turns.entries()) {
      const next = turns[index + 1];
      if (next !== undefined) gaps.push(next.seenAt - turn.answeredAt);
    }
  }
  model.manner = { kind: "text" };
  const floor: number[] = [];
  for (let i = 0; i < 200; i++) {
    await rawTurn();
    const [last, newest] = model.turns.slice(-2);
    if (i > 30 && last !== undefined && newest !== undefined) floor.push(newest.seenAt - last.answeredAt);
  }
  const bare = spread(floor);
  row({
    name: `between two turns of a run of ${CALLS} tool calls, ms`,
    ours: spread(gaps),
    floor: { name: "raw SDK, one call after the other", value: bare },
  });
  row({
    name: "  of it added by the gateway and the tool, ms",
    ours: spread(gaps.map((gap) => gap - bare.median)),
    marks: [{ atMost: 2 }],
  });
}
