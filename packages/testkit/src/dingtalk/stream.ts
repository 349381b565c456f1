import { randomUUID } from "node:crypto";
import { type WebSocket, WebSocketServer } from "ws";
import { parseJson } from "../http.ts";
import { isRaw, type Raw } from "../raw.ts";

/** Stream mode: connections that deliver messages to apps without a public address. */
export interface Stream {
  /** Number of connections on which messages are delivered. */
  count(): number;
  /** Number of open connections, including those on which nothing is delivered. */
  open(): number;
  /**
   * Delivers data on one of the connections, in turn. Resolves with true if it was answered within `withinMs` (default
   * 3,000). Data that is not answered is delivered again after `redeliverMs`.
   *
   * @throws Error if there is no connection
   */
  push(data: unknown, options?: StreamPush): Promise<boolean>;
  /** Number of deliveries of a message so far. */
  deliveries(messageId: string): number;
  /** Sends any text on all connections. */
  send(text: string): void;
  /** Sends a ping of the application. Resolves with true once a connection has returned its data. */
  ping(): Promise<boolean>;
  /** Announces the end of all connections, delivers nothing on them and closes them after `lingerMs`. */
  disconnect(): void;
  /** Keeps the connections open and answers pings of the WebSocket, but delivers nothing. */
  silence(): void;
  /** Ends the connections without a close frame. */
  drop(): void;
}

export interface StreamPush {
  readonly withinMs?: number;
  readonly topic?: string;
  /** Id of the frame. Default: a new one. */
  readonly messageId?: string;
}

export interface StreamOptions {
  /** Time until an unanswered message is delivered again, in milliseconds. Default: 60,000. */
  readonly redeliverMs?: number;
  /** Time that an announced connection stays open, in milliseconds. Default: 10,000. */
  readonly lingerMs?: number;
}

export const ROBOT_TOPIC = "/v1.0/im/bot/messages/get";
export const CARD_TOPIC = "/v1.0/card/instances/callback";

interface Waiting {
  readonly frame: Raw;
  readonly again: NodeJS.Timeout;
  answer(isAnswered: boolean): void;
}

/** Sources: DingTalk's stream SDKs for Node.js and Python. */
export class StreamMode implements Stream {
  readonly #options: Required<StreamOptions>;
  readonly #server: WebSocketServer;
  readonly #tickets = new Set<string>();
  readonly #quiet = new Set<WebSocket>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #deliveries = new Map<string, number>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #turn = 0;

  static async start(options: StreamOptions): Promise<StreamMode> {
    const stream = new StreamMode(options);
    await new Promise<void>((resolve) => stream.#server.once("listening", resolve));
    return stream;
  }

  private constructor({ redeliverMs = 60_000, lingerMs = 10_000 }: StreamOptions) {
    this.#options = { redeliverMs, lingerMs };
    this.#server = new WebSocketServer({
      host: "127.0.0.1",
      port: 0,
      // A ticket is valid for one connection.
      verifyClient: ({ req }: { req: { url?: string } }) =>
        this.#tickets.delete(new URL(req.url ?? "/", "ws://fake").searchParams.get("ticket") ?? ""),
    });
    this.#server.on("connection", (socket) => {
      socket.on("error", () => {});
      socket.on("message", (data) => this.#receive(parseJson(String(data))));
    });
  }

  /** The answer to a request for a connection. */
  endpoint(): Raw {
    const bound = this.#server.address();
    const ticket = randomUUID();
    this.#tickets.add(ticket);
    return { endpoint: `ws://127.0.0.1:${typeof bound === "object" ? bound?.port : 0}/connect`, ticket };
  }

  count(): number {
    return this.#live().length;
  }

  open(): number {
    return [...this.#server.clients].filter(({ readyState, OPEN }) => readyState === OPEN).length;
  }

  deliveries(messageId: string): number {
    return this.#deliveries.get(messageId) ?? 0;
  }

  push(data: unknown, options: StreamPush = {}): Promise<boolean> {
    const { withinMs = 3_000, topic = ROBOT_TOPIC, messageId = randomUUID() } = options;
    const frame = createFrame("CALLBACK", topic, messageId, data);
    if (!this.#deliver(messageId, frame)) return Promise.reject(new Error("there is no connection"));
    const earlier = this.#waiting.get(messageId);
    if (earlier !== undefined) this.#clear(earlier.again);
    return new Promise((resolve) => {
      const late = this.#after(withinMs, () => resolve(false));
      const waiting: Waiting = {
        frame,
        again: this.#every(this.#options.redeliverMs, () => void this.#deliver(messageId, frame)),
        answer: (isAnswered) => {
          this.#clear(late);
          resolve(isAnswered);
        },
      };
      this.#waiting.set(messageId, waiting);
    });
  }

  send(text: string): void {
    for (const socket of this.#live()) socket.send(text);
  }

  ping(): Promise<boolean> {
    const messageId = randomUUID();
    const frame = createFrame("SYSTEM", "ping", messageId, { opaque: randomUUID() });
    return new Promise((resolve) => {
      this.#waiting.set(messageId, {
        frame,
        again: this.#after(3_000, () => resolve(false)),
        answer: resolve,
      });
      if (!this.#deliver(messageId, frame)) resolve(false);
    });
  }

  disconnect(): void {
    for (const socket of this.#live()) {
      socket.send(
        JSON.stringify(
          createFrame("SYSTEM", "disconnect", randomUUID(), { reason: "connection is expired" }),
        ),
      );
      this.#quiet.add(socket);
      this.#after(this.#options.lingerMs, () => socket.close());
    }
  }

  silence(): void {
    for (const socket of this.#live()) this.#quiet.add(socket);
  }

  drop(): void {
    for (const socket of this.#server.clients) socket.terminate();
  }

  stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    for (const { answer } of this.#waiting.values()) answer(false);
    this.#waiting.clear();
    this.drop();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #deliver(messageId: string, frame: Raw): boolean {
    const live = this.#live();
    const socket = live[this.#turn++ % Math.max(live.length, 1)];
    if (socket === undefined) return false;
    this.#deliveries.set(messageId, this.deliveries(messageId) + 1);
    socket.send(JSON.stringify(frame));
    return true;
  }

  /** Ignores wrong answers: another code than 200, or data of another form than DingTalk's SDKs send. */
  #receive(answer: unknown): void {
    const headers = isRaw(answer) && isRaw(answer["headers"]) ? answer["headers"] : {};
    const messageId = String(headers["messageId"]);
    const waiting = this.#waiting.get(messageId);
    if (waiting === undefined || !isRaw(answer) || answer["code"] !== 200) return;
    if (!isAccepted(waiting.frame, answer["data"])) return;
    this.#clear(waiting.again);
    this.#waiting.delete(messageId);
    waiting.answer(true);
  }

  #live(): WebSocket[] {
    return [...this.#server.clients].filter(
      (socket) => !this.#quiet.has(socket) && socket.readyState === socket.OPEN,
    );
  }

  #after(ms: number, run: () => void): NodeJS.Timeout {
    const timer = setTimeout(run, ms);
    this.#timers.add(timer);
    return timer.unref();
  }

  #every(ms: number, run: () => void): NodeJS.Timeout {
    const timer = setInterval(run, ms);
    this.#timers.add(timer);
    return timer.unref();
  }

  #clear(timer: NodeJS.Timeout): void {
    clearTimeout(timer);
    this.#timers.delete(timer);
  }
}

function createFrame(type: string, topic: string, messageId: string, data: unknown): Raw {
  return {
    specVersion: "1.0",
    type,
    headers: {
      appId: "app",
      connectionId: "connection",
      contentType: "application/json",
      messageId,
      time: String(Date.now()),
      topic,
    },
    data: JSON.stringify(data),
  };
}

function isAccepted({ type, data: sent }: Raw, data: unknown): boolean {
  if (type === "SYSTEM") return data === sent;
  const answer = parseJson(typeof data === "string" ? data : "");
  return isRaw(answer) && "response" in answer;
}
