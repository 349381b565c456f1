import type { Model, ModelContext, ModelEvent, StreamOptions, ToolSpec } from "@signalbox/agent-core";
import type { FetchLike, Provider, Timeouts } from "../../src/provider/provider.ts";
import { type ReadTurn, readTurn, type WireAnswer, wire } from "../../src/testkit/index.ts";
import { cutPlaces, eventEnds } from "../../src/testkit/wire.ts";

/** A `fetch` that returns these bytes. */
export function answering(bytes: Uint8Array, status = 200): FetchLike {
  const headers: Readonly<Record<string, string>> =
    status === 200 ? {} : { "content-type": "application/json" };
  return wire({ status, headers, pieces: [bytes] }).fetch;
}

/** A turn that was read to its end and checked, with its last event. */
export interface FinishedTurn extends ReadTurn {
  readonly terminal: Extract<ModelEvent, { type: "finish" | "error" }>;
}

/** Reads a turn to its end and checks the guarantees of a stream. */
export async function readToEnd(stream: AsyncIterable<ModelEvent>): Promise<FinishedTurn> {
  const turn = await readTurn(stream);
  const terminal = turn.events.at(-1);
  if (terminal?.type !== "finish" && terminal?.type !== "error") throw new Error("no terminal event");
  return { ...turn, terminal };
}

/** A provider with a recorded response. */
export interface Replay {
  readonly provider: Provider;
  readonly model: Model;
  readonly baseUrl: string;
  readonly options?: StreamOptions;
  readonly timeouts?: Timeouts;
  /** Default: none. */
  readonly tools?: readonly ToolSpec[];
}

/** The account of a wire format at the host of a recording. */
export function accountAt({ provider, model }: Pick<Replay, "provider" | "model">, host: string): Replay {
  return { provider, model, baseUrl: `https://${host}` };
}

/** Sends one request that gets this response. */
export function replay(replayed: Replay, answer: WireAnswer): Promise<FinishedTurn> {
  return asker(replayed)(answer);
}

const CONTEXT: ModelContext = {
  system: { stable: "Be brief." },
  messages: [{ role: "user", content: "Hello.", timestamp: 0 }],
  tools: [],
};

/**
 * Returns a function that sends many requests over one account. Creating an SDK's client takes longer than reading most
 * responses.
 */
export function asker(replayed: Replay): (answer: WireAnswer) => Promise<FinishedTurn> {
  const { provider, model, baseUrl, options, timeouts, tools = [] } = replayed;
  let given: WireAnswer = { pieces: [] };
  const fetch: FetchLike = (input, init) => wire(given).fetch(input, init);
  const stream = provider.connect({
    apiKey: "test",
    baseUrl,
    fetch,
    now: () => 0,
    ...(timeouts === undefined ? {} : { timeouts }),
  });
  return (answer) => {
    given = answer;
    return readToEnd(stream(model, { ...CONTEXT, tools }, options));
  };
}

/** From here on, the events of a stream repeat themselves. */
const LONG = 16_384;
/** A prime, so that the cuts hit all places of an event. */
const PIECE = 61;

/** Cuts a stream into pieces wherever a cut may matter. */
export function inPieces(bytes: Uint8Array): Uint8Array[] {
  const cuts = cutPlaces(bytes.subarray(0, LONG));
  for (let at = LONG; at < bytes.length; at += PIECE) cuts.push(at);
  return cuts.map((at, i) => bytes.subarray(at, cuts[i + 1]));
}

/** Shorter streams are cut wherever the result can differ. */
const SHORT = 2_000;

/**
 * Returns where to cut a stream. A short one is cut wherever the result can differ, a longer one near its last events
 * and at a spread. `every-byte` covers the rest.
 */
export function cutPoints(bytes: Uint8Array): number[] {
  if (bytes.length < SHORT) return cutPlaces(bytes);
  const { spread, lastEvents } =
    bytes.length > LONG ? { spread: 10, lastEvents: 6 } : { spread: 60, lastEvents: 15 };
  const near = eventEnds(bytes)
    .slice(-lastEvents)
    .flatMap((end) => [end - 2, end - 1, end]);
  const step = Math.ceil(bytes.length / spread);
  const between = Array.from({ length: spread }, (_, i) => i * step);
  return [...new Set([...between, ...near])].filter((at) => at < bytes.length).sort((a, b) => a - b);
}
