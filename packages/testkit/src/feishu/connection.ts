import { randomUUID } from "node:crypto";
import { type WebSocket, WebSocketServer } from "ws";
import { isRaw } from "../raw.ts";
import { decodeFrame, encodeFrame } from "./frame.ts";

/** The long connection over which Feishu sends events to apps without a public address. */
export interface LongConnection {
  /** The URL that `/callback/ws/endpoint` returns. */
  readonly url: string;
  /** Number of open connections that are not frozen. */
  count(): number;
  /**
   * Sends an event in `pieces` frames over one of the connections. Resolves with the code of the response.
   *
   * @throws Error if there is no connection, or it ends before the response
   */
  push(event: unknown, pieces?: number): Promise<number>;
  /** Ends all connections without a close frame. */
  drop(): void;
  /** Keeps the connections open, but neither sends nor reads anything. */
  freeze(): void;
  stop(): Promise<void>;
}

/** @param settings settings for the client, sent at the start and with each pong */
export async function startLongConnection(settings: ClientConfig): Promise<LongConnection> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await new Promise<void>((resolve) => server.once("listening", resolve));
  return new Connections(server, settings);
}

/** An event without a response yet. */
interface Waiting {
  resolve(code: number): void;
  reject(error: Error): void;
  readonly socket: WebSocket;
}

class Connections implements LongConnection {
  readonly url: string;
  readonly #server: WebSocketServer;
  readonly #settings: ClientConfig;
  readonly #waiting = new Map<string, Waiting>();
  readonly #frozen = new Set<WebSocket>();

  constructor(server: WebSocketServer, settings: ClientConfig) {
    this.#server = server;
    this.#settings = settings;
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    this.url = `ws://127.0.0.1:${port}/ws?v=2&device_id=1&service_id=1`;
    server.on("connection", (socket) => this.#connect(socket));
  }

  count(): number {
    return this.#heard().length;
  }

  push(event: unknown, pieces = 1): Promise<number> {
    const [socket] = this.#heard();
    if (socket === undefined) return Promise.reject(new Error("there is no connection"));
    const id = randomUUID();
    const bytes = Buffer.from(JSON.stringify(event));
    const size = Math.ceil(bytes.byteLength / pieces);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, socket });
      for (let seq = 0; seq < pieces; seq += 1) {
        const headers = {
          type: "event",
          message_id: id,
          sum: String(pieces),
          seq: String(seq),
          trace_id: id,
        };
        const payload = bytes.subarray(seq * size, (seq + 1) * size);
        socket.send(encodeFrame({ method: 1, service: 1, headers, payload }));
      }
    });
  }

  drop(): void {
    for (const socket of this.#server.clients) socket.terminate();
  }

  freeze(): void {
    for (const socket of this.#server.clients) this.#frozen.add(socket);
  }

  stop(): Promise<void> {
    this.drop();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #heard(): WebSocket[] {
    return [...this.#server.clients].filter((socket) => !this.#frozen.has(socket));
  }

  #connect(socket: WebSocket): void {
    socket.on("message", (data) => this.#hear(socket, data instanceof Buffer ? data : Buffer.alloc(0)));
    socket.on("error", () => {});
    socket.on("close", () => {
      for (const [id, one] of this.#waiting) {
        if (one.socket !== socket) continue;
        this.#waiting.delete(id);
        one.reject(new Error("the connection ended before the answer"));
      }
    });
  }

  #hear(socket: WebSocket, data: Buffer): void {
    if (this.#frozen.has(socket)) return;
    const frame = decodeFrame(data);
    if (frame.method === 0) {
      const payload = Buffer.from(JSON.stringify(this.#settings));
      socket.send(encodeFrame({ ...frame, headers: { type: "pong" }, payload }));
      return;
    }
    const id = frame.headers["message_id"] ?? "";
    const answer: unknown = JSON.parse(Buffer.from(frame.payload).toString());
    this.#waiting.get(id)?.resolve(isRaw(answer) ? Number(answer["code"]) : 0);
    this.#waiting.delete(id);
  }
}

/** In seconds, as Feishu sends them. */
export type ClientConfig = Readonly<Record<string, number>>;

export function clientConfig(pingSeconds: number): ClientConfig {
  return { ReconnectCount: -1, ReconnectInterval: 120, ReconnectNonce: 30, PingInterval: pingSeconds };
}
