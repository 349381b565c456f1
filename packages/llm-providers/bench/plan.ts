import type { ScriptedTurn } from "@signalbox/testkit";

/** What a run asks of the stand-in, told to it in the prompt. */
type Kind = "text" | "paced" | "tools" | "parallel";

/** One run of a scenario. */
export interface Plan {
  readonly kind: Kind;
  /** Deltas of a text, turns of a tool loop, or calls in one turn. */
  readonly count: number;
}

const WORD = "word ";
const ANSWER: ScriptedTurn = { text: "All done.", chunks: 3 };

export const SYSTEM = "You are a helpful assistant.";
export const TOOL = {
  name: "echo",
  description: "Returns its value.",
  schema: {
    type: "object",
    properties: { value: { type: "string", description: "the value" } },
    required: ["value"],
    additionalProperties: false,
  },
} as const;

export const promptOf = ({ kind, count }: Plan): string => `Go on. @@${kind} ${count}@@`;

export function planOf(prompt: string): Plan {
  const [, kind = "text", count = "1"] = /@@(\w+) (\d+)@@/.exec(prompt) ?? [];
  return { kind: kind as Kind, count: Number(count) };
}

const turns = new Map<string, ScriptedTurn>();

/** The turn of a plan after so many calls were answered; the same object each time, so that it is encoded once. */
export function turnOf(plan: Plan, answered: number): ScriptedTurn {
  const key = `${plan.kind} ${plan.count} ${answered}`;
  let turn = turns.get(key);
  if (turn === undefined) {
    turn = makeTurn(plan, answered);
    turns.set(key, turn);
  }
  return turn;
}

function makeTurn({ kind, count }: Plan, answered: number): ScriptedTurn {
  const text = WORD.repeat(count);
  const call = (i: number) => ({
    id: `toolu_${String(i).padStart(6, "0")}`,
    name: TOOL.name,
    input: { value: `v${i}` },
  });
  switch (kind) {
    case "text":
      return { text, chunks: count };
    case "paced":
      return { text, chunks: count, deltaMs: 1 };
    case "tools":
      return answered < count ? { toolCalls: [call(answered)] } : ANSWER;
    case "parallel":
      return answered === 0 ? { toolCalls: Array.from({ length: count }, (_, i) => call(i)) } : ANSWER;
  }
}

/** What a candidate has to have seen: streamed characters and calls. */
export function expected({ kind, count }: Plan): { readonly characters: number; readonly calls: number } {
  const text = kind === "text" || kind === "paced";
  return { characters: text ? count * WORD.length : (ANSWER.text?.length ?? 0), calls: text ? 0 : count };
}
