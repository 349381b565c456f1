import { ChannelError, type Clock, type Connection, rejectOnAbort } from "@signalbox/channel";
import type { RawData, WebSocket } from "ws";
import { toChannelError } from "../errors.ts";
import { limits } from "../limits.ts";
import { commands, createReqId, type IncomingFrame, type OutgoingFrame, readFrame } from "./frames.ts";

export interface SocketOptions {
  readonly url: string;
  readonly botId: string;
  readonly secret: string;
  readonly clock: Clock;
  /** Handles a callback. Must not throw. */
  onCallback(frame: IncomingFrame): void;
  onUnreadable(): void;
}

/** A request over the long connection. */
export interface SocketRequest {
  readonly frame: OutgoingFrame;
  /** The operation, for errors, as in `sending a message`. */
  readonly what: string;
  /** False if the request has no visible effect, so that it can be repeated after an unknown outcome. Default: true. */
  readonly write?: boolean;
  readonly signal: AbortSignal;
}

/** An authenticated connection. */
export interface WecomSocket extends Connection {
  /**
   * Sends a frame and returns its acknowledgment. Frames with the same `req_id` are sent one at a time, because their
   * acknowledgments have no other id.
   *
   * @throws ChannelError
   */
  request(request: SocketRequest): Promise<IncomingFrame>;
}

/**
 * Opens a connection and authenticates.
 *
 * @throws ChannelError
 */
export async function openSocket(options: SocketOptions, signal: AbortSignal): Promise<WecomSocket> {
  const { WebSocket } = await import("ws");
  const socket = new AcknowledgedSocket(
    new WebSocket(options.url, { maxPayload: limits.frameBytes, followRedirects: false }),
    options,
  );
  const close = (): void => socket.close();
  signal.addEventListener("abort", close, { once: true });
  try {
    await socket.opened;
    const { botId, secret } = options;
    const body = { bot_id: botId, secret };
    const frame = { cmd: commands.subscribe, headers: { req_id: createReqId(commands.subscribe) }, body };
    await socket.request({ frame, what: "authenticating", write: false, signal });
    return socket;
  } catch (error) {
    socket.close();
    throw error;
  } finally {
    signal.removeEventListener("abort", close);
  }
}

/** A frame that is waiting for its acknowledgment. */
type Waiting = PromiseWithResolvers<IncomingFrame>;

class AcknowledgedSocket implements WecomSocket {
  readonly #socket: WebSocket;
  readonly #options: SocketOptions;
  readonly #ended = Promise.withResolvers<void>();
  readonly #opened = Promise.withResolvers<void>();
  readonly #waiting = new Map<string, Waiting>();
  /** Settles when the latest frame of a `req_id` has been acknowledged or has failed. */
  readonly #last = new Map<string, Promise<unknown>>();

  constructor(socket: WebSocket, options: SocketOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#opened.promise.catch(() => {});
    socket.on("open", () => this.#opened.resolve());
    socket.on("message", (data) => this.#receive(data));
    socket.on("error", (error) => this.#end(`no connection${"code" in error ? ` (${error.code})` : ""}`));
    socket.on("close", () => this.#end("the connection was closed"));
  }

  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  get lost(): Promise<void> {
    return this.#ended.promise;
  }

  close(): void {
    this.#socket.terminate();
    this.#end("the connection was closed");
  }

  async probe(signal: AbortSignal): Promise<void> {
    const frame = { cmd: commands.heartbeat, headers: { req_id: createReqId(commands.heartbeat) } };
    await this.request({ frame, what: "sending a heartbeat", write: false, signal });
  }

  async request(request: SocketRequest): Promise<IncomingFrame> {
    const { frame, what, write = true, signal } = request;
    const { req_id: reqId } = frame.headers;
    let isSent = false;
    const before = this.#last.get(reqId) ?? Promise.resolve();
    const exchange = before.then(() => {
      if (signal.aborted) throw unsent(what);
      isSent = true;
      return this.#exchange(request);
    });
    // If the caller gives up, the next frame still waits: it must not receive this frame's acknowledgment.
    const settled = exchange
      .catch(() => {})
      .then(() => {
        if (this.#last.get(reqId) === settled) this.#last.delete(reqId);
      });
    this.#last.set(reqId, settled);
    return rejectOnAbort(exchange, signal, () => (isSent ? unanswered(what, write) : unsent(what)));
  }

  async #exchange({ frame, what, write = true }: SocketRequest): Promise<IncomingFrame> {
    if (this.#socket.readyState !== this.#socket.OPEN) throw unsent(what);
    const { req_id: reqId } = frame.headers;
    const waiting: Waiting = Promise.withResolvers();
    this.#waiting.set(reqId, waiting);
    const answered = new AbortController();
    this.#options.clock.delay(limits.ackMs, answered.signal).then(
      () => waiting.reject(new Error("no acknowledgment")),
      () => {},
    );
    try {
      this.#socket.send(JSON.stringify(frame));
      const answer = await waiting.promise;
      const { errcode = 0, errmsg } = answer;
      if (errcode !== 0) throw toChannelError({ errcode, errmsg }, what, write);
      return answer;
    } catch (error) {
      if (error instanceof ChannelError) throw error;
      // A later acknowledgment would be taken for that of another frame.
      this.close();
      throw unanswered(what, write);
    } finally {
      answered.abort();
      this.#waiting.delete(reqId);
    }
  }

  #receive(data: RawData): void {
    const frame = readFrame(data.toString());
    if (frame === undefined) this.#options.onUnreadable();
    else if (frame.cmd !== undefined) this.#options.onCallback(frame);
    else this.#waiting.get(frame.reqId)?.resolve(frame);
  }

  #end(reason: string): void {
    this.#opened.reject(new ChannelError("transient", `WeCom: ${reason}`, { scope: "account" }));
    for (const { reject } of this.#waiting.values()) reject(new Error(reason));
    this.#ended.resolve();
  }
}

/** Creates the error of a frame that was not sent. */
function unsent(what: string): ChannelError {
  return new ChannelError("transient", `WeCom: ${what}: not sent`);
}

/** Creates the error of a frame that WeCom may have carried out. */
function unanswered(what: string, write: boolean): ChannelError {
  return new ChannelError(write ? "unknown_outcome" : "transient", `WeCom: ${what}: no acknowledgment`);
}
