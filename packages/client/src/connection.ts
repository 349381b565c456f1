import type { AcceptedFrame, Activity, ReadyFrame, SentAttachment, ServerFrame } from "@signalbox/protocol";
import type { ClientError } from "./errors.ts";

/** `waiting`: the connection was lost or not had; it is tried again at `retryAt` (Unix milliseconds). */
export type ConnectionState =
  | { kind: "connecting"; attempt: number }
  | { kind: "open"; ready: ReadyFrame }
  | { kind: "waiting"; attempt: number; retryAt: number }
  | { kind: "closed"; error?: ClientError };

export interface ConnectOptions {
  /** How often in a row it is tried again before it closes with code `network`. Default: no limit. */
  retries?: number;
  /** Milliseconds before a try, `attempt` counts from 1. Default: 500 doubling to 15,000, up to half off. */
  backoffMs?: (attempt: number) => number;
  /** A ping is sent after so many milliseconds of silence. Default 25 s. */
  pingMs?: number;
  /** What a ping or a new connection may take to be answered before it counts as lost. Default 10 s. */
  pongMs?: number;
}

/** What to send; `id` is made where it is not given. */
export interface Outgoing {
  agent: string;
  conversation: string;
  /** Empty only where something comes with it. */
  text: string;
  id?: string;
  /** Files that `upload` has sent. */
  attachments?: SentAttachment[];
}

export interface ChatOptions {
  /** Aborting it stops the run; the frames then end with a `run.end` of outcome `aborted`. */
  signal?: AbortSignal;
  /** Idempotency key of the message; made where it is not given. */
  id?: string;
}

/** A connection to `/ws` that comes back by itself. */
export interface Connection {
  readonly state: ConnectionState;
  /** Resolves once the gateway has said `ready`; rejects where the connection closes before. */
  opened(): Promise<ReadyFrame>;
  /** Calls `listener` with each frame; the result ends that. */
  onFrame(listener: (frame: ServerFrame) => void): () => void;
  /** Calls `listener` with each new state; the result ends that. */
  onState(listener: (state: ConnectionState) => void): () => void;
  /** All frames from now on, queued until read; ends when the connection closes, with its error if any. */
  frames(): AsyncIterableIterator<ServerFrame, undefined>;
  /** Shows a conversation on this connection, also after a reconnect, until the result is called. */
  subscribe(conversation: string, agent?: string): () => void;
  /**
   * Calls `listener` with the activity of the whole gateway, at once and at each change, also after a reconnect, until
   * the result is called. For owners.
   */
  watch(listener: (activity: Activity) => void): () => void;
  /**
   * Sends a message and resolves once the gateway has committed it. While there is no connection it waits;
   * what was not accepted is sent again after a reconnect under the same id, which the gateway takes once.
   * Rejects with a {@link ClientError} where the gateway refuses it or the connection closes.
   */
  send(message: Outgoing): Promise<AcceptedFrame>;
  /** Stops the run of a conversation. Does nothing while there is no connection. */
  abort(conversation: string): void;
  /** Sends a message and yields the frames of its conversation up to the `run.end` that answers it. */
  chat(
    agent: string,
    conversation: string,
    text: string,
    options?: ChatOptions,
  ): AsyncIterableIterator<ServerFrame, undefined>;
  /** Tries to connect now instead of at `retryAt`, for instance when the network is back. */
  retryNow(): void;
  /** Closes for good. Sends that were not accepted reject with code `closed`. */
  close(): void;
}
