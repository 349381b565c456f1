import assert from "node:assert/strict";
import type { JsonObject, Model, ModelContext, ModelEvent } from "@signalbox/agent-core";
import type { FetchLike, Provider, ProviderConfig } from "../provider/provider.ts";
import { type ReadTurn, readTurn } from "./check.ts";
import { type Wire, type WireAnswer, wire } from "./wire.ts";

/** One recorded answer of the vendor. */
export interface RecordedStream {
  readonly name: string;
  /** The event stream as it came. */
  readonly body: string | Uint8Array;
  /** How reading it whole ends; default `finish`. */
  readonly ends?: "finish" | "error";
  /** What it says when read whole; not looked at where absent. */
  readonly says?: {
    readonly text?: string;
    readonly calls?: readonly { readonly name: string; readonly args: JsonObject }[];
  };
}

/** A refusal of the vendor and what it has to be made of. */
export interface RecordedRefusal {
  readonly name: string;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
  readonly code: string;
  readonly retryAfterMs?: number;
}

/** What is tested. */
export interface ProviderSubject {
  readonly provider: Provider;
  readonly model: Model;
  readonly recordings: readonly RecordedStream[];
  /** Bytes that may come between any two events and mean nothing. */
  readonly keepAlive: string;
  /** An event by which the vendor reports an overload in mid-stream; absent where it has none. */
  readonly errorEvent?: string;
  /** An answer without content. */
  readonly empty?: string;
  readonly refusals?: readonly RecordedRefusal[];
  /** Cut at every byte of every recording, also where it comes out as a cut beside it. Slow. */
  readonly everyByte?: boolean;
  /** Milliseconds after which a turn counts as hanging; default 10,000. */
  readonly hungMs?: number;
}

const CONTEXT: ModelContext = {
  system: { stable: "You are tested." },
  messages: [{ role: "user", content: "Go on.", timestamp: 0 }],
  tools: [{ name: "probe", description: "A tool.", inputSchema: { type: "object", properties: {} } }],
};

const FIXED_TIME = 1_700_000_000_000;
const HUNG_MS = 10_000;

/** Reads what a provider makes of answers of its vendor. */
export class Subject {
  readonly #subject: ProviderSubject;
  constructor(subject: ProviderSubject) {
    this.#subject = subject;
  }

  open(
    answer: WireAnswer,
    config: ProviderConfig = {},
    signal?: AbortSignal,
  ): { readonly line: Wire; readonly events: AsyncIterable<ModelEvent> } {
    const line = wire(answer);
    const { provider, model } = this.#subject;
    const stream = provider.connect({ apiKey: "k", now: () => FIXED_TIME, fetch: line.fetch, ...config });
    const events = stream(model, CONTEXT, signal === undefined ? {} : { signal });
    return { line, events };
  }

  async read(answer: WireAnswer, config?: ProviderConfig): Promise<ReadTurn> {
    const { events } = this.open(answer, config);
    return within("a turn", readTurn(events), this.#subject.hungMs);
  }

  /** Reads many answers of one account, one after the other: a client takes longer to make than most are to read. */
  reader(): (answer: WireAnswer) => Promise<ReadTurn> {
    const { provider, model, hungMs } = this.#subject;
    let line = wire({ pieces: [] });
    const fetch: FetchLike = (input, init) => line.fetch(input, init);
    const stream = provider.connect({ apiKey: "k", now: () => FIXED_TIME, fetch });
    return (answer) => {
      line = wire(answer);
      return within("a turn", readTurn(stream(model, CONTEXT, {})), hungMs);
    };
  }
}

export async function within<T>(what: string, promise: Promise<T>, ms: number = HUNG_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new assert.AssertionError({ message: `${what} hangs` })), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
