/**
 * One scripted model turn, in terms every vendor's stand-in can put on its own wire. A stand-in takes the turns in
 * order, or asks a function for each.
 */
export interface ScriptedTurn {
  /** Visible text, streamed in `chunks` pieces. */
  readonly text?: string | undefined;
  readonly thinking?: string | undefined;
  readonly toolCalls?: readonly ScriptedToolCall[] | undefined;
  /** In the vendor's own word; defaults to the tool-use or end word. */
  readonly stopReason?: string | undefined;
  readonly usage?: {
    readonly input?: number | undefined;
    readonly output?: number | undefined;
    readonly cacheRead?: number | undefined;
    readonly cacheWrite?: number | undefined;
  };
  /** Into how many deltas text and arguments are cut; default 4. */
  readonly chunks?: number | undefined;
  /** Wait before the first byte, in milliseconds. */
  readonly delayMs?: number | undefined;
  /** Wait between deltas, in milliseconds; default 0. */
  readonly deltaMs?: number | undefined;
  /** Awaited before each event of the stream, by its number from 0: a pace that what happens elsewhere sets. */
  readonly pace?: ((event: number) => unknown) | undefined;
  /** Refuse instead of answering. */
  readonly error?: ScriptedError | undefined;
  /** Break the connection after this many events, or never end (`stall`). */
  readonly fault?: { readonly kind: "cut" | "stall" | "garbage"; readonly afterEvents: number };
}

export interface ScriptedToolCall {
  /** Made up where absent. */
  readonly id?: string | undefined;
  readonly name: string;
  readonly input: unknown;
  /** Sent instead of `input`, to script malformed arguments. */
  readonly inputText?: string | undefined;
}

export interface ScriptedError {
  readonly status: number;
  /** The vendor's error type, for instance `overloaded_error`. */
  readonly type?: string | undefined;
  readonly message?: string | undefined;
  /** Seconds, sent as `retry-after`. */
  readonly retryAfter?: number | undefined;
  /** Send the error as an event in mid-stream, after this many events. */
  readonly afterEvents?: number | undefined;
}

/** Turns in order, or a function of the parsed request body and the number of requests before it. */
export type Script =
  | readonly ScriptedTurn[]
  | ((request: unknown, index: number) => ScriptedTurn | Promise<ScriptedTurn>);
