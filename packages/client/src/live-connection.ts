import {
  type AcceptedFrame,
  type Activity,
  CLOSE_UNAUTHORIZED,
  type ClientFrame,
  type ConversationHistory,
  parseServerFrame,
  type ReadyFrame,
  type SendFrame,
  type ServerFrame,
} from "@signalbox/protocol";
import { defaultBackoff } from "./backoff.ts";
import { chat } from "./chat.ts";
import type { ChatOptions, Connection, ConnectionState, ConnectOptions, Outgoing } from "./connection.ts";
import { ClientError } from "./errors.ts";
import { newId } from "./id.ts";
import { Queue } from "./queue.ts";
import { eventCode, eventText, type WebSocketLike } from "./socket.ts";

export interface ConnectionParts {
  open(): WebSocketLike;
  /** False once it is certain that the gateway no longer knows this client. */
  authorized(): Promise<boolean>;
  history(conversation: string): Promise<ConversationHistory>;
  options: ConnectOptions;
}

interface PendingSend {
  frame: SendFrame;
  result: PromiseWithResolvers<AcceptedFrame>;
}

interface Subscription {
  agent: string | undefined;
  holders: number;
  /** Of the last frame: after a reconnect, what came behind it is wanted. */
  cursor?: string;
}

export class LiveConnection implements Connection {
  #state: ConnectionState = { kind: "connecting", attempt: 1 };
  #socket: WebSocketLike | undefined;
  /** Tries in a row without a `ready`. */
  #attempt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #parts: ConnectionParts;
  readonly #frameListeners = new Set<(frame: ServerFrame) => void>();
  readonly #stateListeners = new Set<(state: ConnectionState) => void>();
  readonly #queues = new Set<Queue<ServerFrame>>();
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #watchers = new Set<(activity: Activity) => void>();
  #activity: Activity | undefined;
  readonly #sends = new Map<string, PendingSend>();
  readonly #opened = Promise.withResolvers<ReadyFrame>();

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    // Whoever does not call `opened()` learns of a failure through the state.
    this.#opened.promise.catch(() => {});
    this.#connect();
  }

  get state(): ConnectionState {
    return this.#state;
  }

  opened(): Promise<ReadyFrame> {
    return this.#opened.promise;
  }

  onFrame(listener: (frame: ServerFrame) => void): () => void {
    this.#frameListeners.add(listener);
    return () => void this.#frameListeners.delete(listener);
  }

  onState(listener: (state: ConnectionState) => void): () => void {
    this.#stateListeners.add(listener);
    return () => void this.#stateListeners.delete(listener);
  }

  frames(): Queue<ServerFrame> {
    const queue: Queue<ServerFrame> = new Queue(() => this.#queues.delete(queue));
    if (this.#state.kind === "closed") queue.end(this.#state.error);
    else this.#queues.add(queue);
    return queue;
  }

  subscribe(conversation: string, agent?: string): () => void {
    const subscription = this.#subscriptions.get(conversation);
    if (subscription === undefined) {
      this.#subscriptions.set(conversation, { agent, holders: 1 });
      this.#write({ type: "subscribe", conversation, ...(agent !== undefined && { agent }) });
    } else {
      subscription.holders += 1;
    }
    let isHeld = true;
    return () => {
      const subscription = this.#subscriptions.get(conversation);
      if (!isHeld || subscription === undefined) return;
      isHeld = false;
      subscription.holders -= 1;
      if (subscription.holders > 0) return;
      this.#subscriptions.delete(conversation);
      this.#write({ type: "unsubscribe", conversation });
    };
  }

  watch(listener: (activity: Activity) => void): () => void {
    // A listener of its own each time, so that the same function may watch twice.
    const watcher = (activity: Activity) => listener(activity);
    this.#watchers.add(watcher);
    if (this.#watchers.size === 1) this.#write({ type: "watch" });
    else if (this.#activity !== undefined) watcher(this.#activity);
    return () => {
      if (!this.#watchers.delete(watcher) || this.#watchers.size > 0) return;
      this.#activity = undefined;
      this.#write({ type: "unwatch" });
    };
  }

  send(message: Outgoing): Promise<AcceptedFrame> {
    if (this.#state.kind === "closed") return Promise.reject(this.#closedError());
    const { agent, conversation, text, attachments = [], id = newId() } = message;
    const pending = this.#sends.get(id);
    if (pending !== undefined) return pending.result.promise;
    const files = attachments.length === 0 ? {} : { attachments };
    const frame: SendFrame = { type: "send", id, agent, conversation, text, ...files };
    const result = Promise.withResolvers<AcceptedFrame>();
    this.#sends.set(id, { frame, result });
    this.#write(frame);
    return result.promise;
  }

  abort(conversation: string): void {
    this.#write({ type: "abort", conversation });
  }

  chat(
    agent: string,
    conversation: string,
    text: string,
    options: ChatOptions = {},
  ): AsyncIterableIterator<ServerFrame, undefined> {
    return chat(this, this.#parts.history, { agent, conversation, text }, options);
  }

  retryNow(): void {
    if (this.#state.kind === "waiting") this.#connect();
  }

  close(): void {
    this.#finish();
  }

  #connect(): void {
    this.#attempt += 1;
    this.#setState({ kind: "connecting", attempt: this.#attempt });
    let socket: WebSocketLike;
    try {
      socket = this.#parts.open();
    } catch (cause) {
      // Only an address or a header that can never work makes the constructor throw.
      const message = "The address of the gateway cannot be connected to.";
      this.#finish(new ClientError({ code: "network", message }, undefined, cause));
      return;
    }
    this.#socket = socket;
    socket.addEventListener("message", (event) => {
      if (socket === this.#socket) this.#read(eventText(event));
    });
    // `close` follows every `error`; without a listener `ws` would throw it.
    socket.addEventListener("error", () => {});
    socket.addEventListener("close", (event) => {
      if (socket === this.#socket) void this.#lost(eventCode(event));
    });
    this.#after(this.#pongMs(), () => void this.#lost());
  }

  #read(text: string | undefined): void {
    const frame = text === undefined ? undefined : parseServerFrame(text);
    if (this.#state.kind === "connecting") {
      if (frame?.type === "ready") this.#ready(frame);
      else this.#finish(otherProtocol());
      return;
    }
    this.#watch();
    if (frame === undefined) return;
    if (frame.type === "accepted") this.#settle(frame.id)?.result.resolve(frame);
    if (frame.type === "error" && frame.id !== undefined)
      this.#settle(frame.id)?.result.reject(new ClientError(frame));
    this.#keepCursor(frame);
    if (frame.type === "activity") this.#tell(frame.activity);
    this.#publish(frame);
  }

  #tell(activity: Activity): void {
    this.#activity = activity;
    for (const watcher of [...this.#watchers]) watcher(activity);
  }

  #keepCursor(frame: ServerFrame): void {
    if (!("cursor" in frame) || frame.cursor === undefined || frame.conversation === undefined) return;
    const subscription = this.#subscriptions.get(frame.conversation);
    if (subscription !== undefined) subscription.cursor = frame.cursor;
  }

  #ready(frame: ReadyFrame): void {
    this.#attempt = 0;
    this.#watch();
    this.#state = { kind: "open", ready: frame };
    // Before any listener hears of it, whose own frames go out by themselves.
    for (const [conversation, { agent, cursor: after }] of this.#subscriptions)
      this.#write({
        type: "subscribe",
        conversation,
        ...(agent !== undefined && { agent }),
        ...(after !== undefined && { after }),
      });
    if (this.#watchers.size > 0) this.#write({ type: "watch" });
    for (const { frame } of this.#sends.values()) this.#write(frame);
    this.#setState(this.#state);
    this.#opened.resolve(frame);
    this.#publish(frame);
  }

  /** Starts the wait for the next frame anew: silence leads to a ping, further silence to a reconnect. */
  #watch(): void {
    this.#after(this.#parts.options.pingMs ?? 25_000, () => {
      this.#write({ type: "ping" });
      this.#after(this.#pongMs(), () => void this.#lost());
    });
  }

  async #lost(code?: number): Promise<void> {
    const before = this.#state;
    this.#drop();
    if (code === CLOSE_UNAUTHORIZED) return this.#finish(unauthorized());
    if (code === CLOSE_TOO_LARGE) this.#refuseLongest();
    // A browser does not say why an upgrade was refused, so the HTTP API is asked.
    if (before.kind === "connecting" && !(await this.#parts.authorized())) {
      return this.#finish(unauthorized());
    }
    // Closed, or connected anew, while that was asked.
    if (this.#state !== before) return;
    if (this.#attempt > (this.#parts.options.retries ?? Number.POSITIVE_INFINITY)) {
      const message = "The gateway cannot be reached.";
      return this.#finish(new ClientError({ code: "network", message, remedy: NOT_REACHED }));
    }
    const attempt = this.#attempt + 1;
    const wait = (this.#parts.options.backoffMs ?? defaultBackoff)(attempt);
    this.#setState({ kind: "waiting", attempt, retryAt: Date.now() + wait });
    // A listener may have closed the connection or asked for another try.
    if (this.#state.kind === "waiting") this.#after(wait, () => this.#connect());
  }

  /** Of what could be too long for one frame the longest is; the others are sent again. */
  #refuseLongest(): void {
    const [longest] = [...this.#sends.values()].sort((a, b) => b.frame.text.length - a.frame.text.length);
    if (longest === undefined) return;
    const message = "The message is longer than the gateway takes.";
    const error = new ClientError({ code: "too_large", message, remedy: "Send it in parts." });
    this.#settle(longest.frame.id)?.result.reject(error);
  }

  #finish(error?: ClientError): void {
    if (this.#state.kind === "closed") return;
    this.#drop();
    this.#setState(error === undefined ? { kind: "closed" } : { kind: "closed", error });
    const reason = this.#closedError();
    this.#opened.reject(reason);
    for (const id of [...this.#sends.keys()]) this.#settle(id)?.result.reject(reason);
    for (const queue of [...this.#queues]) queue.end(error);
  }

  #closedError(): ClientError {
    const error = this.#state.kind === "closed" ? this.#state.error : undefined;
    return error ?? new ClientError({ code: "closed", message: "The connection was closed." });
  }

  #drop(): void {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
  }

  #settle(id: string): PendingSend | undefined {
    const send = this.#sends.get(id);
    this.#sends.delete(id);
    return send;
  }

  /** What is written while there is no connection is either repeated on `ready` or of no use then. */
  #write(frame: ClientFrame): void {
    if (this.#state.kind === "open") this.#socket?.send(JSON.stringify(frame));
  }

  #after(ms: number, action: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(action, ms);
  }

  #pongMs(): number {
    return this.#parts.options.pongMs ?? 10_000;
  }

  #setState(state: ConnectionState): void {
    this.#state = state;
    for (const listener of [...this.#stateListeners]) listener(state);
  }

  #publish(frame: ServerFrame): void {
    for (const queue of [...this.#queues]) queue.push(frame);
    for (const listener of [...this.#frameListeners]) listener(frame);
  }
}

/** RFC 6455: a frame was too big for the other side. */
const CLOSE_TOO_LARGE = 1009;

const NOT_REACHED = "Check that it runs and that the address is right.";

function unauthorized(): ClientError {
  return new ClientError({
    code: "unauthorized",
    message: "The gateway does not know this client.",
    remedy: "Sign in with the gateway's token.",
  });
}

function otherProtocol(): ClientError {
  return new ClientError({
    code: "protocol",
    message: "The gateway speaks another version of the protocol.",
    remedy: "Reload the page, or bring gateway and client to about the same age.",
  });
}
