import type { AssistantMessage, Model, ModelContext, ModelEvent, StreamOptions } from "@signalbox/agent-core";
import type { FetchLike, Provider } from "../../src/provider.ts";

/** How an answer's bytes reach the SDK. */
export interface Delivery {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sizes of the pieces, repeated until the bytes are used up; one piece where absent. */
  readonly pieceSize?: number;
  /** How the body ends after the bytes: as the server means it (default), by a broken connection, or never. */
  readonly end?: "clean" | "broken" | "never";
}

/** A `fetch` that answers every request with the same bytes, and remembers the bodies it was sent. */
export function answering(
  bytes: Uint8Array,
  delivery: Delivery = {},
): FetchLike & { readonly bodies: string[] } {
  const { status = 200, headers = { "content-type": "text/event-stream" }, end = "clean" } = delivery;
  const pieceSize = delivery.pieceSize ?? Math.max(1, bytes.length);
  const bodies: string[] = [];
  const answer: FetchLike = async (input, init) => {
    bodies.push(input instanceof Request ? await input.text() : String(init?.body ?? ""));
    let at = 0;
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        pull(controller) {
          if (at < bytes.length) {
            controller.enqueue(Uint8Array.from(bytes.subarray(at, at + pieceSize)));
            at += pieceSize;
          } else if (end === "clean") controller.close();
          else if (end === "broken") controller.error(new TypeError("terminated"));
          else return new Promise(() => {});
          return undefined;
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(body, { status, headers: { ...headers } });
  };
  return Object.assign(answer, { bodies });
}

/** Everything a turn said, after its invariants were checked. */
export interface Told {
  readonly events: readonly ModelEvent[];
  /** The complete message, or what there was of it. */
  readonly message: AssistantMessage;
  readonly terminal: Extract<ModelEvent, { type: "finish" | "error" }>;
}

/**
 * Reads a turn to its end and checks what every turn promises: one `start` first, one terminal event last, blocks
 * with rising indexes that are opened, filled and sealed once, deltas that add up to the sealed block, and the sealed
 * blocks as the message's content.
 */
export async function tell(stream: AsyncIterable<ModelEvent>): Promise<Told> {
  const events: ModelEvent[] = [];
  const open = new Map<number, string>();
  const sealed: unknown[] = [];
  let next = 0;
  let terminal: Told["terminal"] | undefined;
  const must = (fine: boolean, what: string): void => {
    if (!fine) throw new Error(`${what}: ${JSON.stringify(events.slice(-5))}`);
  };
  for await (const event of stream) {
    events.push(event);
    must(terminal === undefined, "an event after the terminal one");
    must((event.type === "start") === (events.length === 1), "start comes first, and once");
    switch (event.type) {
      case "block.start":
        must(event.index === next++, "indexes rise by one");
        open.set(event.index, "");
        break;
      case "text.delta":
      case "thinking.delta":
      case "tool.delta":
        must(open.has(event.index), "a delta belongs to an open block");
        must(event.delta !== "", "a delta says something");
        open.set(event.index, (open.get(event.index) ?? "") + event.delta);
        break;
      case "block.end": {
        const text = open.get(event.index);
        must(text !== undefined, "a sealed block was open");
        open.delete(event.index);
        sealed[event.index] = event.block;
        const { block } = event;
        if (block.type === "text" || block.type === "thinking" || block.type === "refusal") {
          must(block.text === text, "deltas add up to the sealed text");
        } else if (block.type === "toolCall") {
          must(block.argsText === text, "deltas add up to the sealed arguments");
          must((block.args === undefined) === (block.argsError !== undefined), "arguments or an error");
        }
        break;
      }
      case "finish":
      case "error":
        terminal = event;
        break;
      default:
        break;
    }
  }
  if (terminal === undefined) throw new Error("no terminal event");
  must(open.size === 0, "every block is sealed");
  const message = terminal.type === "finish" ? terminal.message : terminal.partial;
  must(JSON.stringify(message.content) === JSON.stringify(sealed), "the message holds the sealed blocks");
  return { events, message, terminal };
}

/** Where to cut a stream: everywhere while it is short or `SIGNALBOX_CUTS=all`, else around its line ends and a spread. */
export function cutPoints(bytes: Uint8Array, budget: number): number[] {
  const all = Array.from({ length: bytes.length }, (_, at) => at);
  if (process.env.SIGNALBOX_CUTS === "all" || bytes.length <= budget) return all;
  const step = Math.max(1, Math.floor(bytes.length / budget));
  const picked = new Set<number>();
  for (let at = 0; at < bytes.length; at += step) picked.add(at);
  let ends = 0;
  for (let at = bytes.length - 1; at > 0 && ends < budget / 4; at--) {
    if (bytes[at] !== 10) continue;
    ends++;
    for (const near of [at - 1, at, at + 1]) if (near < bytes.length) picked.add(near);
  }
  return all.filter((at) => picked.has(at));
}

/** One provider behind one recorded answer. */
export interface Replay {
  readonly provider: Provider;
  readonly model: Model;
  readonly baseUrl: string;
  readonly options?: StreamOptions;
  readonly tools?: ModelContext["tools"];
}

/** Asks the provider one question that is answered with `bytes`. */
export function replay(replayed: Replay, bytes: Uint8Array, delivery?: Delivery): Promise<Told> {
  const { provider, model, baseUrl, options, tools = [] } = replayed;
  const stream = provider.connect({
    apiKey: "test",
    baseUrl,
    fetch: answering(bytes, delivery),
    now: () => 0,
  });
  const context: ModelContext = {
    system: { stable: "Be brief." },
    messages: [{ role: "user", content: "Hello.", timestamp: 0 }],
    tools,
  };
  return tell(stream(model, context, options));
}

/**
 * Cuts an answer at many bytes and checks that each turn ends as it must: what is finished equals the whole, and no
 * call that was cut off has arguments. Gives the number of cuts made.
 */
export async function checkCuts(
  replayed: Replay,
  bytes: Uint8Array,
  whole: Told,
  budget: number,
): Promise<number> {
  const points = cutPoints(bytes, budget);
  const complete = new Set<string>();
  for (const block of whole.message.content) {
    if (block.type === "toolCall" && block.args !== undefined)
      complete.add(`${block.name} ${block.argsText}`);
  }
  for (const [i, at] of points.entries()) {
    const end = i % 2 === 0 ? "clean" : "broken";
    const told = await replay(replayed, bytes.subarray(0, at), { end });
    const where = `cut at byte ${at} of ${bytes.length}, ${end}`;
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
  return points.length;
}
