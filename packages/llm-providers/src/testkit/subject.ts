import assert from "node:assert/strict";
import type {
  JsonObject,
  Model,
  ModelContext,
  ModelEvent,
  StreamModel,
  StreamOptions,
} from "@signalbox/agent-core";
import type { Provider, ProviderConfig } from "../provider/provider.ts";
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

/** Reads what a provider makes of answers of its vendor. */
export class Subject {
  readonly subject: ProviderSubject;

  constructor(subject: ProviderSubject) {
    this.subject = subject;
  }

  /** Asks for an answer over a line of its own. */
  open(
    answer: WireAnswer,
    config: ProviderConfig = {},
    options: StreamOptions = {},
  ): { readonly line: Wire; readonly events: AsyncIterable<ModelEvent> } {
    const line = wire(answer);
    const stream = this.#connect({ fetch: line.fetch, ...config });
    return { line, events: stream(this.subject.model, CONTEXT, options) };
  }

  async read(answer: WireAnswer, config?: ProviderConfig): Promise<ReadTurn> {
    return this.within("a turn", readTurn(this.open(answer, config).events));
  }

  /** Reads many answers of one account, one after the other: a client takes longer to make than most are to read. */
  reader(): (answer: WireAnswer) => Promise<ReadTurn> {
    let line = wire({ pieces: [] });
    const stream = this.#connect({ fetch: (input, init) => line.fetch(input, init) });
    return (answer) => {
      line = wire(answer);
      return this.within("a turn", readTurn(stream(this.subject.model, CONTEXT)));
    };
  }

  #connect(config: ProviderConfig): StreamModel {
    return this.subject.provider.connect({ apiKey: "k", now: () => FIXED_TIME, ...config });
  }

  async within<T>(what: string, promise: Promise<T>): Promise<T> {
    const { hungMs = 10_000 } = this.subject;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const onLate = (): void => reject(new assert.AssertionError({ message: `${what} hangs` }));
      timer = setTimeout(onLate, hungMs);
    });
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
  }

  /** Waits for something to become so. */
  async until(what: string, isSo: () => boolean): Promise<void> {
    const wait = async (): Promise<void> => {
      while (!isSo()) await new Promise(setImmediate);
    };
    return this.within(what, wait());
  }
}
