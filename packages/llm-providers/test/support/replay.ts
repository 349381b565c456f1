import type { Model, ModelContext, ModelEvent, StreamOptions } from "@signalbox/agent-core";
import type { FetchLike, Provider } from "../../src/provider.ts";
import { eventEnds, type ReadTurn, readTurn, type WireAnswer, wire } from "../../src/testkit/index.ts";

/** A `fetch` that answers with these bytes at once. */
export function answering(bytes: Uint8Array): FetchLike {
  return wire({ pieces: [bytes] }).fetch;
}

/** A turn read to its end and checked, with the event that ended it. */
export interface Told extends ReadTurn {
  readonly terminal: Extract<ModelEvent, { type: "finish" | "error" }>;
}

/** Reads a turn to its end and checks what every turn promises. */
export async function tell(stream: AsyncIterable<ModelEvent>): Promise<Told> {
  const turn = await readTurn(stream);
  const terminal = turn.events.at(-1);
  if (terminal?.type !== "finish" && terminal?.type !== "error") throw new Error("no terminal event");
  return { ...turn, terminal };
}

/** One provider behind one recorded answer. */
export interface Replay {
  readonly provider: Provider;
  readonly model: Model;
  readonly baseUrl: string;
  readonly options?: StreamOptions;
}

/** Asks the provider one question that is answered as given. */
export function replay(replayed: Replay, answer: WireAnswer): Promise<Told> {
  const { provider, model, baseUrl, options } = replayed;
  const stream = provider.connect({ apiKey: "test", baseUrl, fetch: wire(answer).fetch, now: () => 0 });
  const context: ModelContext = {
    system: { stable: "Be brief." },
    messages: [{ role: "user", content: "Hello.", timestamp: 0 }],
    tools: [],
  };
  return tell(stream(model, context, options));
}

/** Bytes in pieces of one byte, or of seven where there are very many. */
export function inPieces(bytes: Uint8Array): Uint8Array[] {
  const size = bytes.length > 100_000 ? 7 : 1;
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  );
}

/** Set to cut short streams at each byte and longer ones at every edge of an event, which takes many minutes. */
const EVERY_BYTE = process.env.SIGNALBOX_EVERY_BYTE === "1";
const SHORT = 16_384;

/** Where to cut: everywhere while a stream is short, else around the ends of its last events and a spread. */
function cutPoints(bytes: Uint8Array, budget: number): number[] {
  const all = Array.from({ length: bytes.length }, (_, at) => at);
  if (bytes.length <= (EVERY_BYTE ? SHORT : budget)) return all;
  const step = EVERY_BYTE ? 997 : Math.max(1, Math.floor(bytes.length / budget));
  const ends = eventEnds(bytes).slice(EVERY_BYTE ? 0 : -Math.ceil(budget / 4));
  const near = new Set(ends.flatMap((end) => [end - 2, end - 1, end]));
  return all.filter((at) => at % step === 0 || near.has(at));
}

/**
 * Cuts an answer at many bytes and checks that each turn ends as it must: what is finished equals the whole, and no
 * call that was cut off has arguments. Prints how many cuts were made where it was not all.
 */
export async function checkCuts(
  replayed: Replay,
  name: string,
  bytes: Uint8Array,
  whole: Told,
  budget: number,
): Promise<void> {
  const points = cutPoints(bytes, budget);
  const complete = new Set<string>();
  for (const block of whole.message.content) {
    if (block.type === "toolCall" && block.args !== undefined)
      complete.add(`${block.name} ${block.argsText}`);
  }
  for (const [i, at] of points.entries()) {
    const ending = i % 2 === 0 ? "end" : "break";
    const told = await replay(replayed, { pieces: [bytes.subarray(0, at)], ending });
    const where = `cut at byte ${at} of ${bytes.length} (${ending})`;
    if (told.terminal.type === "finish") {
      // A server may report a failure after the model's last word; a cut before that finishes.
      if (whole.terminal.type === "error") continue;
      const said = JSON.stringify(told.message.content);
      if (said !== JSON.stringify(whole.message.content))
        throw new Error(`${where}: finished with less than the whole`);
      continue;
    }
    for (const block of told.message.content) {
      if (block.type !== "toolCall" || block.args === undefined) continue;
      if (!complete.has(`${block.name} ${block.argsText}`))
        throw new Error(`${where}: a partial call was sealed as valid`);
    }
  }
  if (points.length < bytes.length) {
    console.log(`${name}: ${points.length} of ${bytes.length} cuts (SIGNALBOX_EVERY_BYTE=1 makes more)`);
  }
}
