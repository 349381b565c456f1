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

/** A recorded response from the vendor. */
export interface RecordedStream {
  readonly name: string;
  /** The event stream, byte for byte. */
  readonly body: string | Uint8Array;
  /** The terminal event of the turn. Default: `finish`. */
  readonly ends?: "finish" | "error";
  /** The expected content. Not checked if absent. */
  readonly says?: {
    readonly text?: string;
    readonly calls?: readonly { readonly name: string; readonly args: JsonObject }[];
  };
}

/** A recorded refusal from the vendor, and the expected failure. */
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
  /** Meaningless bytes that may occur between any two events. */
  readonly keepAlive: string;
  /** An event that reports an overload in the middle of a stream, if the vendor has one. */
  readonly errorEvent?: string;
  /** A response without content. */
  readonly empty?: string;
  readonly refusals?: readonly RecordedRefusal[];
  /** Cuts every recording at every byte, even if neighboring cuts have the same result. Slow. */
  readonly everyByte?: boolean;
  /** Milliseconds after which a turn counts as hanging. Default: 10,000. */
  readonly hungMs?: number;
}

const CONTEXT: ModelContext = {
  system: { stable: "You are tested." },
  messages: [{ role: "user", content: "Go on.", timestamp: 0 }],
  tools: [{ name: "probe", description: "A tool.", inputSchema: { type: "object", properties: {} } }],
};

const FIXED_TIME = 1_700_000_000_000;

/** Connects a provider to recorded responses. */
export class Subject {
  readonly subject: ProviderSubject;

  constructor(subject: ProviderSubject) {
    this.subject = subject;
  }

  /** Sends a request that receives this response. */
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

  /**
   * Returns a function that reads many responses with one account. Creating an SDK's client takes longer than reading
   * most responses.
   */
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

  /** Waits until a condition is true. */
  async until(what: string, isSo: () => boolean): Promise<void> {
    const wait = async (): Promise<void> => {
      while (!isSo()) await new Promise(setImmediate);
    };
    return this.within(what, wait());
  }
}
