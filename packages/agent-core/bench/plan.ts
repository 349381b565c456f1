/** One turn of the in-process model: some text deltas, or one tool call whose arguments come in pieces. */
export type PlannedTurn =
  | { readonly kind: "text"; readonly deltas: readonly string[] }
  | { readonly kind: "calls"; readonly calls: readonly PlannedCall[] };

export interface PlannedCall {
  readonly id: string;
  readonly args: { readonly value: string };
  readonly json: string;
  readonly pieces: readonly string[];
}

const WORDS = ["The", " quick", " brown", " fox", " jumps", " over", " the", " lazy", " dog", ".", " "];

export function textTurn(deltas: number): PlannedTurn {
  return { kind: "text", deltas: Array.from({ length: deltas }, (_, i) => WORDS[i % WORDS.length] ?? "") };
}

function call(n: number): PlannedCall {
  const args = { value: `v${n}` };
  const json = JSON.stringify(args);
  const step = Math.ceil(json.length / 4);
  const pieces: string[] = [];
  for (let at = 0; at < json.length; at += step) pieces.push(json.slice(at, at + step));
  return { id: `call_${String(n).padStart(6, "0")}`, args, json, pieces };
}

/** `turns` turns with one call each, then three deltas of text. */
export function toolPlan(turns: number): PlannedTurn[] {
  const plan: PlannedTurn[] = [];
  for (let n = 0; n < turns; n++) plan.push({ kind: "calls", calls: [call(n)] });
  plan.push(textTurn(3));
  return plan;
}

/** One turn with `calls` calls, then three deltas of text. */
export function parallelPlan(calls: number): PlannedTurn[] {
  return [{ kind: "calls", calls: Array.from({ length: calls }, (_, n) => call(n)) }, textTurn(3)];
}

/** What a run has to come to, whoever runs it. */
export interface Outcome {
  readonly text: string;
  readonly calls: number;
  readonly deltas: number;
}

export type Runner = (plan: readonly PlannedTurn[]) => Promise<Outcome>;
