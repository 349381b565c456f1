/**
 * A scripted model turn that every vendor's fake server can send. A fake server takes the turns in order, or calls a
 * function for each.
 */
export interface ScriptedTurn {
  /** Visible text, streamed in `chunks` pieces. */
  readonly text?: string | undefined;
  readonly thinking?: string | undefined;
  readonly toolCalls?: readonly ScriptedToolCall[] | undefined;
  /** In the vendor's words. Default: its word for tool use or for the end. */
  readonly stopReason?: string | undefined;
  readonly usage?: {
    readonly input?: number | undefined;
    readonly output?: number | undefined;
    readonly cacheRead?: number | undefined;
    readonly cacheWrite?: number | undefined;
  };
  /** Number of deltas for text and arguments. Default: 4. */
  readonly chunks?: number | undefined;
  /** Delay before the first byte, in milliseconds. */
  readonly delayMs?: number | undefined;
  /** Delay between deltas, in milliseconds. Default: 0. */
  readonly deltaMs?: number | undefined;
  /** Awaited before each event of the stream, with its index, so that a test can control the pace. */
  readonly pace?: ((event: number) => unknown) | undefined;
  /** Responds with an error. */
  readonly error?: ScriptedError | undefined;
  /** Breaks the connection after this many events, or never ends the stream (`stall`). */
  readonly fault?: { readonly kind: "cut" | "stall" | "garbage"; readonly afterEvents: number };
}

export interface ScriptedToolCall {
  /** Default: generated. */
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
  /** Send the error as an event in the stream, after this many events. */
  readonly afterEvents?: number | undefined;
}

/** Turns in order, or a function of the parsed request body and the number of earlier requests. */
export type Script =
  | readonly ScriptedTurn[]
  | ((request: unknown, index: number) => ScriptedTurn | Promise<ScriptedTurn>);
