import { randomUUID } from "node:crypto";
import { type WebSocket, WebSocketServer } from "ws";
import { isRaw } from "../raw.ts";
import type { SlackDelivery } from "./events.ts";

/** Socket mode: connections over which deliveries go to apps that cannot be reached from outside. */
export interface Sockets {
  /** A new address, good for one connection. */
  address(): string;
  /** How many connections stand and are heard. */
  count(): number;
  /**
   * Hands a delivery to one of the connections, in turn. Resolves with whether it was acknowledged within `withinMs`
   * (default 3,000).
   *
   * @throws Error when there is no connection, or it ends before the answer
   */
  push(delivery: SlackDelivery, options?: SocketPush): Promise<boolean>;
  /** Sends any text over all connections. */
  send(text: string): void;
  /** Asks all connections to come again, and closes them, as Slack does every few hours. */
  refresh(): void;
  /** Ends them without a word. */
  drop(): void;
  /** They stay open, and nothing is heard or said on them any more. */
  freeze(): void;
  stop(): Promise<void>;
}

export interface SocketPush {
  readonly withinMs?: number;
  /** How often it was tried before, and why it is again. */
  readonly retry?: { readonly number: number; readonly reason: string };
}

const mostConnections = 10;

/** Source: Slack's page on socket mode. */
export async function startSockets(): Promise<Sockets> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await new Promise<void>((resolve) => server.once("listening", resolve));
  const tickets = new Set<string>();
  const frozen = new Set<WebSocket>();
  const waiting = new Map<string, { answer(isTaken: boolean): void; readonly socket: WebSocket }>();
  let turn = 0;

  function heard(): WebSocket[] {
    return [...server.clients].filter((socket) => !frozen.has(socket) && socket.readyState === socket.OPEN);
  }

  server.on("connection", (socket, request) => {
    socket.on("error", () => {});
    const ticket = new URL(request.url ?? "/", "ws://standin").searchParams.get("ticket") ?? "";
    if (!tickets.delete(ticket)) return socket.close(1008, "invalid ticket");
    if (heard().length > mostConnections) {
      socket.send(JSON.stringify({ type: "disconnect", reason: "too_many_websockets" }));
      return socket.close();
    }
    socket.send(JSON.stringify({ type: "hello", num_connections: heard().length }));
    socket.on("message", (data) => {
      if (frozen.has(socket)) return;
      const said: unknown = JSON.parse(String(data));
      const id = isRaw(said) ? String(said["envelope_id"]) : "";
      waiting.get(id)?.answer(true);
      waiting.delete(id);
    });
    socket.on("close", () => {
      for (const [id, { answer, socket: other }] of waiting) {
        if (other !== socket) continue;
        waiting.delete(id);
        answer(false);
      }
    });
    return undefined;
  });
  const bound = server.address();
  const port = typeof bound === "object" ? bound?.port : undefined;

  return {
    address() {
      const ticket = randomUUID();
      tickets.add(ticket);
      return `ws://127.0.0.1:${port}/link?ticket=${ticket}`;
    },
    count: () => heard().length,
    push({ type, body }, { withinMs = 3000, retry } = {}) {
      const sockets = heard();
      const socket = sockets[turn++ % Math.max(sockets.length, 1)];
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
        waiting.set(id, { answer, socket });
        socket.send(JSON.stringify(envelope));
      });
    },
    send(text) {
      for (const socket of heard()) socket.send(text);
    },
    refresh() {
      for (const socket of heard()) {
        socket.send(JSON.stringify({ type: "disconnect", reason: "refresh_requested" }));
        socket.close();
      }
    },
    drop() {
      for (const socket of server.clients) socket.terminate();
    },
    freeze() {
      for (const socket of heard()) {
        frozen.add(socket);
        socket.pause();
      }
    },
    stop() {
      for (const socket of server.clients) socket.terminate();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
