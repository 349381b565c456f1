import { randomUUID } from "node:crypto";
import { type WebSocket, WebSocketServer } from "ws";
import { isRaw } from "../raw.ts";
import { decodeFrame, encodeFrame } from "./frame.ts";

/** The long connection over which Feishu pushes events to apps that cannot be reached from outside. */
export interface LongConnection {
  /** What `/callback/ws/endpoint` gives out. */
  readonly url: string;
  /** How many connections stand and are heard. */
  count(): number;
  /**
   * Pushes an event, in `pieces` frames, over one of the connections, and resolves with the code it was answered with.
   *
   * @throws Error when there is no connection, or it ends before the answer
   */
  push(event: unknown, pieces?: number): Promise<number>;
  /** Ends all connections without a word. */
  drop(): void;
  /** They stay open, and nothing is heard or said on them any more. */
  freeze(): void;
  stop(): Promise<void>;
}

/** @param settings what the app is told of how to behave, now and with each answer to a ping */
export async function startLongConnection(settings: ClientConfig): Promise<LongConnection> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await new Promise<void>((resolve) => server.once("listening", resolve));
  const waiting = new Map<
    string,
    { resolve(code: number): void; reject(error: Error): void; socket: WebSocket }
  >();
  const frozen = new Set<WebSocket>();
  const heard = (): WebSocket[] => [...server.clients].filter((socket) => !frozen.has(socket));
  server.on("connection", (socket) => {
    socket.on("message", (data) => {
      if (frozen.has(socket)) return;
      const frame = decodeFrame(data instanceof Buffer ? data : Buffer.alloc(0));
      if (frame.method === 0) {
        socket.send(
          encodeFrame({
            ...frame,
            headers: { type: "pong" },
            payload: Buffer.from(JSON.stringify(settings)),
          }),
        );
        return;
      }
      const id = frame.headers["message_id"] ?? "";
      const answer: unknown = JSON.parse(Buffer.from(frame.payload).toString());
      waiting.get(id)?.resolve(isRaw(answer) ? Number(answer["code"]) : 0);
      waiting.delete(id);
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      for (const [id, one] of waiting) {
        if (one.socket !== socket) continue;
        waiting.delete(id);
        one.reject(new Error("the connection ended before the answer"));
      }
    });
  });
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;

  return {
    url: `ws://127.0.0.1:${port}/ws?v=2&device_id=1&service_id=1`,
    count: () => heard().length,
    push(event, pieces = 1) {
      const [socket] = heard();
      if (socket === undefined) return Promise.reject(new Error("there is no connection"));
      const id = randomUUID();
      const bytes = Buffer.from(JSON.stringify(event));
      const size = Math.ceil(bytes.byteLength / pieces);
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject, socket });
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
    },
    drop() {
      for (const socket of server.clients) socket.terminate();
    },
    freeze() {
      for (const socket of server.clients) frozen.add(socket);
    },
    stop() {
      for (const socket of server.clients) socket.terminate();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Seconds, as Feishu sends them. */
export type ClientConfig = Readonly<Record<string, number>>;

export function clientConfig(pingSeconds: number): ClientConfig {
  return { ReconnectCount: -1, ReconnectInterval: 120, ReconnectNonce: 30, PingInterval: pingSeconds };
}
