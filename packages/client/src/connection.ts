import type { AcceptedFrame, Activity, ReadyFrame, SentAttachment, ServerFrame } from "@signalbox/protocol";
import type { ClientError } from "./errors.ts";

/** `waiting`: the connection failed; the next attempt starts at `retryAt` (milliseconds since the epoch). */
export type ConnectionState =
  | { kind: "connecting"; attempt: number }
  | { kind: "open"; ready: ReadyFrame }
  | { kind: "waiting"; attempt: number; retryAt: number }
  | { kind: "closed"; error?: ClientError };

export interface ConnectOptions {
  /**
   * Maximum number of consecutive failed attempts. After that, the connection closes with the code `network`. Default:
   * no limit.
   */
  retries?: number;
  /**
   * Returns the delay before an attempt in milliseconds. `attempt` counts from 1. Default: 500 doubling to 15,000,
   * minus up to 50 % jitter.
   */
  backoffMs?: (attempt: number) => number;
  /** Milliseconds of silence before the client sends a ping. Default: 25,000. */
  pingMs?: number;
  /** Timeout for the reply to a ping and for a new connection, in milliseconds. Default 10,000. */
  pongMs?: number;
}

/** A message to send. */
export interface Outgoing {
  agent: string;
  conversation: string;
  /** May be empty only if there are attachments. */
  text: string;
  /** Idempotency key. Default: a new id. */
  id?: string;
  /** Results of `upload`. */
  attachments?: SentAttachment[];
}

export interface ChatOptions {
  /** Aborting it stops the run. The last frame is then a `run.end` with the outcome `aborted`. */
  signal?: AbortSignal;
  /** Idempotency key of the message. Default: a new id. */
  id?: string;
}

/** A WebSocket to `/ws` that reconnects automatically. */
export interface Connection {
  readonly state: ConnectionState;
  /** Resolves when the gateway has sent `ready`. Rejects if the connection closes first. */
  opened(): Promise<ReadyFrame>;
  /** Calls `listener` with each frame. Returns a function that removes the listener. */
  onFrame(listener: (frame: ServerFrame) => void): () => void;
  /** Calls `listener` with each new state. Returns a function that removes the listener. */
  onState(listener: (state: ConnectionState) => void): () => void;
  /**
   * Yields all frames from now on and buffers them until they are read. Throws the connection's error when it closes.
   */
  frames(): AsyncIterableIterator<ServerFrame, undefined>;
  /** Subscribes to a conversation, including after reconnects. Returns a function that unsubscribes. */
  subscribe(conversation: string, agent?: string): () => void;
  /**
   * Calls `listener` with the activity of the whole gateway, immediately and after each change. Requires an owner.
   *
   * @returns a function that ends the subscription
   */
  watch(listener: (activity: Activity) => void): () => void;
  /**
   * Sends a message and resolves once the gateway has committed it. Without a connection, the message waits. After a
   * reconnect, messages that were not accepted are sent again with the same id.
   *
   * @throws {ClientError} if the gateway refuses the message or the connection closes
   */
  send(message: Outgoing): Promise<AcceptedFrame>;
  /** Stops the run of a conversation. Has no effect without a connection. */
  abort(conversation: string): void;
  /** Sends a message and yields the frames of its conversation until the `run.end` of its run. */
  chat(
    agent: string,
    conversation: string,
    text: string,
    options?: ChatOptions,
  ): AsyncIterableIterator<ServerFrame, undefined>;
  /** Connects now instead of at `retryAt`, for instance because the network is available again. */
  retryNow(): void;
  /** Closes the connection permanently. Pending sends reject with the code `closed`. */
  close(): void;
}
