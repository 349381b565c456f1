/**
 * One scripted model turn, in terms every vendor's stand-in can put on its own wire. A stand-in takes the turns in
 * order, or asks a function for each.
 */
export interface ScriptedTurn {
  /** Visible text, streamed in `chunks` pieces. */
  readonly text?: string;
  readonly thinking?: string;
  readonly toolCalls?: readonly ScriptedToolCall[];
  /** In the vendor's own word; defaults to the tool-use or end word. */
  readonly stopReason?: string;
  readonly usage?: {
    readonly input?: number;
    readonly output?: number;
    readonly cacheRead?: number;
    readonly cacheWrite?: number;
  };
  /** Into how many deltas text and arguments are cut; default 4. */
  readonly chunks?: number;
  /** Wait before the first byte, in milliseconds. */
  readonly delayMs?: number;
  /** Wait between deltas, in milliseconds; default 0. */
  readonly deltaMs?: number;
  /** Refuse instead of answering. */
  readonly error?: ScriptedError;
  /** Break the connection after this many events, or never end (`stall`). */
  readonly fault?: { readonly kind: "cut" | "stall" | "garbage"; readonly afterEvents: number };
}

export interface ScriptedToolCall {
  /** Made up where absent. */
  readonly id?: string;
  readonly name: string;
  readonly input: unknown;
  /** Sent instead of `input`, to script malformed arguments. */
  readonly inputText?: string;
}

export interface ScriptedError {
  readonly status: number;
  /** The vendor's error type, for instance `overloaded_error`. */
  readonly type?: string;
  readonly message?: string;
  /** Seconds, sent as `retry-after`. */
  readonly retryAfter?: number;
  /** Send the error as an event in mid-stream, after this many events. */
  readonly afterEvents?: number;
}

/** Turns in order, or a function of the parsed request body and the number of requests before it. */
export type Script =
  | readonly ScriptedTurn[]
  | ((request: unknown, index: number) => ScriptedTurn | Promise<ScriptedTurn>);
