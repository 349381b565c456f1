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
import { ClientError, UNREACHABLE_REMEDY } from "./errors.ts";
import { newId } from "./id.ts";
import { Queue } from "./queue.ts";
import { getCloseCode, getText, type WebSocketLike } from "./socket.ts";

export interface ConnectionContext {
  open(): WebSocketLike;
  /** Resolves with false if the gateway rejects the client's credential. */
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
  /** Cursor of the last frame, to resume after a reconnect. */
  cursor?: string;
}

export class LiveConnection implements Connection {
  #state: ConnectionState = { kind: "connecting", attempt: 1 };
  #socket: WebSocketLike | undefined;
  /** Consecutive attempts without a `ready`. */
  #attempt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #context: ConnectionContext;
  readonly #frameListeners = new Set<(frame: ServerFrame) => void>();
  readonly #stateListeners = new Set<(state: ConnectionState) => void>();
  readonly #queues = new Set<Queue<ServerFrame>>();
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #watchers = new Set<(activity: Activity) => void>();
  #activity: Activity | undefined;
  readonly #sends = new Map<string, PendingSend>();
  readonly #opened = Promise.withResolvers<ReadyFrame>();

  constructor(context: ConnectionContext) {
    this.#context = context;
    // Avoids an unhandled rejection if `opened()` is never called.
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
      this.#write({ type: "subscribe", conversation, agent });
    } else {
      subscription.holders += 1;
    }
    let isActive = true;
    return () => {
      const subscription = this.#subscriptions.get(conversation);
      if (!isActive || subscription === undefined) return;
      isActive = false;
      subscription.holders -= 1;
      if (subscription.holders > 0) return;
      this.#subscriptions.delete(conversation);
      this.#write({ type: "unsubscribe", conversation });
    };
  }

  watch(listener: (activity: Activity) => void): () => void {
    // Wrapped, so that the same function can be added twice.
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
    const frame: SendFrame = {
      type: "send",
      id,
      agent,
      conversation,
      text,
      attachments: attachments.length === 0 ? undefined : attachments,
    };
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
    return chat(this, this.#context.history, { agent, conversation, text }, options);
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
      socket = this.#context.open();
    } catch (cause) {
      // The constructor throws only for an invalid URL or header, so a retry cannot help.
      const message = "The gateway's URL or token is invalid for a WebSocket.";
      this.#finish(new ClientError({ code: "network", message }, undefined, cause));
      return;
    }
    this.#socket = socket;
    socket.addEventListener("message", (event) => {
      if (socket === this.#socket) this.#read(getText(event));
    });
    // `close` follows every `error`. Without a listener, the package `ws` would throw the error.
    socket.addEventListener("error", () => {});
    socket.addEventListener("close", (event) => {
      if (socket === this.#socket) void this.#lost(getCloseCode(event));
    });
    this.#after(this.#pongMs(), () => void this.#lost());
  }

  #read(text: string | undefined): void {
    const frame = text === undefined ? undefined : parseServerFrame(text);
    if (this.#state.kind === "connecting") {
      if (frame?.type === "ready") this.#ready(frame);
      else this.#finish(createProtocolError());
      return;
    }
    this.#restartPing();
    if (frame === undefined) return;
    if (frame.type === "accepted") this.#removeSend(frame.id)?.result.resolve(frame);
    if (frame.type === "error" && frame.id !== undefined)
      this.#removeSend(frame.id)?.result.reject(new ClientError(frame));
    this.#storeCursor(frame);
    if (frame.type === "activity") this.#publishActivity(frame.activity);
    this.#publish(frame);
  }

  #publishActivity(activity: Activity): void {
    this.#activity = activity;
    for (const watcher of [...this.#watchers]) watcher(activity);
  }

  #storeCursor(frame: ServerFrame): void {
    if (!("cursor" in frame) || frame.cursor === undefined || frame.conversation === undefined) return;
    const subscription = this.#subscriptions.get(frame.conversation);
    if (subscription !== undefined) subscription.cursor = frame.cursor;
  }

  #ready(frame: ReadyFrame): void {
    this.#attempt = 0;
    this.#restartPing();
    this.#state = { kind: "open", ready: frame };
    // Writes these frames before the listeners run, because a frame that a listener sends must not be sent twice.
    for (const [conversation, { agent, cursor: after }] of this.#subscriptions)
      this.#write({ type: "subscribe", conversation, agent, after });
    if (this.#watchers.size > 0) this.#write({ type: "watch" });
    for (const { frame } of this.#sends.values()) this.#write(frame);
    this.#setState(this.#state);
    this.#opened.resolve(frame);
    this.#publish(frame);
  }

  /** Restarts the keep-alive timer. Silence leads to a ping, and further silence to a reconnect. */
  #restartPing(): void {
    this.#after(this.#context.options.pingMs ?? 25_000, () => {
      this.#write({ type: "ping" });
      this.#after(this.#pongMs(), () => void this.#lost());
    });
  }

  async #lost(code?: number): Promise<void> {
    const before = this.#state;
    this.#drop();
    if (code === CLOSE_UNAUTHORIZED) return this.#finish(createUnauthorizedError());
    if (code === CLOSE_TOO_LARGE) this.#rejectLongest();
    // Browsers do not expose the status of a refused upgrade, so check the credential over HTTP.
    if (before.kind === "connecting" && !(await this.#context.authorized())) {
      return this.#finish(createUnauthorizedError());
    }
    // The connection was closed or reopened during the check.
    if (this.#state !== before) return;
    if (this.#attempt > (this.#context.options.retries ?? Number.POSITIVE_INFINITY)) {
      const message = "The gateway is unreachable.";
      return this.#finish(new ClientError({ code: "network", message, remedy: UNREACHABLE_REMEDY }));
    }
    const attempt = this.#attempt + 1;
    const wait = (this.#context.options.backoffMs ?? defaultBackoff)(attempt);
    this.#setState({ kind: "waiting", attempt, retryAt: Date.now() + wait });
    // A listener may have closed the connection or called `retryNow`.
    if (this.#state.kind === "waiting") this.#after(wait, () => this.#connect());
  }

  /** Rejects the longest pending message, which is the one that exceeded the frame limit. The others are sent again. */
  #rejectLongest(): void {
    const [longest] = [...this.#sends.values()].sort((a, b) => b.frame.text.length - a.frame.text.length);
    if (longest === undefined) return;
    const message = "The message is longer than the gateway accepts.";
    const error = new ClientError({ code: "too_large", message, remedy: "Send it in parts." });
    this.#removeSend(longest.frame.id)?.result.reject(error);
  }

  #finish(error?: ClientError): void {
    if (this.#state.kind === "closed") return;
    this.#drop();
    this.#setState({ kind: "closed", error });
    const reason = this.#closedError();
    this.#opened.reject(reason);
    for (const id of [...this.#sends.keys()]) this.#removeSend(id)?.result.reject(reason);
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

  #removeSend(id: string): PendingSend | undefined {
    const send = this.#sends.get(id);
    this.#sends.delete(id);
    return send;
  }

  /** Drops the frame if there is no connection. `#ready` repeats subscriptions and pending sends. */
  #write(frame: ClientFrame): void {
    if (this.#state.kind === "open") this.#socket?.send(JSON.stringify(frame));
  }

  #after(ms: number, action: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(action, ms);
  }

  #pongMs(): number {
    return this.#context.options.pongMs ?? 10_000;
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

/** RFC 6455, section 7.4.1: the message is too big. */
const CLOSE_TOO_LARGE = 1009;

function createUnauthorizedError(): ClientError {
  return new ClientError({
    code: "unauthorized",
    message: "The gateway rejected the token or the session.",
    remedy: "Sign in with the gateway's token.",
  });
}

function createProtocolError(): ClientError {
  return new ClientError({
    code: "protocol",
    message: "The gateway uses another version of the protocol.",
    remedy: "Reload the page, or update the gateway and the client to the same version.",
  });
}
