import { randomUUID } from "node:crypto";
import { type WebSocket, WebSocketServer } from "ws";
import { isRaw } from "../raw.ts";
import type { SlackDelivery } from "./events.ts";

/** Socket mode: connections that deliver events to apps without a public address. */
export interface Sockets {
  /** Returns a new URL, valid for one connection. */
  address(): string;
  /** Number of open connections that are not frozen. */
  count(): number;
  /**
   * Sends a delivery over one of the connections, in turn. Resolves with true if it was acknowledged within `withinMs`
   * (default 3,000).
   *
   * @throws Error if there is no connection, or it ends before the acknowledgment
   */
  push(delivery: SlackDelivery, options?: SocketPush): Promise<boolean>;
  /** Sends any text over all connections. */
  send(text: string): void;
  /** Asks all clients to reconnect and closes the connections, as Slack does every few hours. */
  refresh(): void;
  /** Ends the connections without a close frame. */
  drop(): void;
  /** Keeps the connections open, but neither sends nor reads anything. */
  freeze(): void;
  stop(): Promise<void>;
}

export interface SocketPush {
  readonly withinMs?: number;
  /** Number of the retry and its reason. */
  readonly retry?: { readonly number: number; readonly reason: string };
}

const mostConnections = 10;

/** Source: Slack's page on socket mode. */
export async function startSockets(): Promise<Sockets> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await new Promise<void>((resolve) => server.once("listening", resolve));
  return new SocketMode(server);
}

/** A delivery without an acknowledgment yet. */
interface Waiting {
  answer(isTaken: boolean): void;
  readonly socket: WebSocket;
}

class SocketMode implements Sockets {
  readonly #server: WebSocketServer;
  readonly #tickets = new Set<string>();
  readonly #frozen = new Set<WebSocket>();
  readonly #waiting = new Map<string, Waiting>();
  #turn = 0;

  constructor(server: WebSocketServer) {
    this.#server = server;
    server.on("connection", (socket, request) => this.#connect(socket, request.url ?? "/"));
  }

  address(): string {
    const bound = this.#server.address();
    const port = typeof bound === "object" ? bound?.port : undefined;
    const ticket = randomUUID();
    this.#tickets.add(ticket);
    return `ws://127.0.0.1:${port}/link?ticket=${ticket}`;
  }

  count(): number {
    return this.#heard().length;
  }

  push({ type, body }: SlackDelivery, { withinMs = 3000, retry }: SocketPush = {}): Promise<boolean> {
    const sockets = this.#heard();
    const socket = sockets[this.#turn++ % Math.max(sockets.length, 1)];
    if (socket === undefined) return Promise.reject(new Error("there is no connection"));
    const id = randomUUID();
    const envelope = {
      envelope_id: id,
      type,
      payload: body,
      accepts_response_payload: type !== "events_api",
      ...(retry === undefined ? {} : { retry_attempt: retry.number, retry_reason: retry.reason }),
    };
    return new Promise((resolve) => {
      const late = setTimeout(() => resolve(false), withinMs);
      const answer = (isTaken: boolean): void => {
        clearTimeout(late);
        resolve(isTaken);
      };
      this.#waiting.set(id, { answer, socket });
      socket.send(JSON.stringify(envelope));
    });
  }

  send(text: string): void {
    for (const socket of this.#heard()) socket.send(text);
  }

  refresh(): void {
    for (const socket of this.#heard()) {
      socket.send(JSON.stringify({ type: "disconnect", reason: "refresh_requested" }));
      socket.close();
    }
  }

  drop(): void {
    for (const socket of this.#server.clients) socket.terminate();
  }

  freeze(): void {
    for (const socket of this.#heard()) {
      this.#frozen.add(socket);
      socket.pause();
    }
  }

  stop(): Promise<void> {
    this.drop();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #heard(): WebSocket[] {
    return [...this.#server.clients].filter(
      (socket) => !this.#frozen.has(socket) && socket.readyState === socket.OPEN,
    );
  }

  #connect(socket: WebSocket, url: string): void {
    socket.on("error", () => {});
    const ticket = new URL(url, "ws://fake").searchParams.get("ticket") ?? "";
    if (!this.#tickets.delete(ticket)) {
      socket.close(1008, "invalid ticket");
      return;
    }
    const count = this.count();
    if (count > mostConnections) {
      socket.send(JSON.stringify({ type: "disconnect", reason: "too_many_websockets" }));
      socket.close();
      return;
    }
    socket.send(JSON.stringify({ type: "hello", num_connections: count }));
    socket.on("message", (data) => this.#hear(socket, JSON.parse(String(data))));
    socket.on("close", () => {
      for (const [id, { answer, socket: other }] of this.#waiting) {
        if (other !== socket) continue;
        this.#waiting.delete(id);
        answer(false);
      }
    });
  }

  #hear(socket: WebSocket, said: unknown): void {
    if (this.#frozen.has(socket)) return;
    const id = isRaw(said) ? String(said["envelope_id"]) : "";
    this.#waiting.get(id)?.answer(true);
    this.#waiting.delete(id);
  }
}
