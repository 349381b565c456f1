import { type WebSocket, WebSocketServer } from "ws";
import { parseJson } from "../http.ts";
import { isRaw, type Raw } from "../raw.ts";
import { BOT_ID } from "./callbacks.ts";
import type { Faults } from "./faults.ts";
import { type Ack, ok, refusals } from "./reply.ts";

/** A frame from the bot. */
export interface WecomFrame {
  readonly cmd: string;
  readonly reqId: string;
  readonly body: Raw;
  /** The frame as it was sent. */
  readonly text: string;
}

export interface SocketsOptions {
  readonly faults: Faults;
  readonly port: number;
  /** Milliseconds between the announcement that a connection was displaced and its end. */
  readonly displacedMs: number;
  /** Checks `aibot_subscribe`. */
  authenticate(body: Raw): boolean;
  /** Returns true if the bot's secret is no longer valid. */
  isRevoked(): boolean;
  /** Carries out any other frame. */
  handle(frame: WecomFrame): Ack;
}

/** The long connection. A bot has one; when another one authenticates, the older one is told and closed. */
export class Sockets {
  /** All frames, in order. */
  readonly frames: WecomFrame[] = [];
  readonly #server: WebSocketServer;
  readonly #options: SocketsOptions;
  readonly #frozen = new Set<WebSocket>();
  #current: WebSocket | undefined;
  #isAway = false;

  private constructor(server: WebSocketServer, options: SocketsOptions) {
    this.#server = server;
    this.#options = options;
    server.on("connection", (socket) => this.#connect(socket));
  }

  static async start(options: SocketsOptions): Promise<Sockets> {
    const server = new WebSocketServer({ host: "127.0.0.1", port: options.port });
    await new Promise<void>((resolve) => server.once("listening", resolve));
    return new Sockets(server, options);
  }

  get url(): string {
    const bound = this.#server.address();
    return `ws://127.0.0.1:${typeof bound === "object" ? bound?.port : ""}`;
  }

  /** Number of authenticated connections. */
  get count(): number {
    return this.#current === undefined ? 0 : 1;
  }

  /** Sends a callback. Returns false if no bot is connected, in which case it is lost. */
  push(cmd: string, reqId: string, body: Raw): boolean {
    const socket = this.#current;
    if (socket === undefined || this.#frozen.has(socket)) return false;
    socket.send(JSON.stringify({ cmd, headers: { req_id: reqId }, body }));
    return true;
  }

  /** Sends any text to the bot. */
  send(text: string): void {
    this.#current?.send(text);
  }

  /** Ends the connections without a close frame. */
  drop(): void {
    for (const socket of this.#server.clients) socket.terminate();
  }

  /** Keeps the connections open, but neither sends nor reads anything. */
  freeze(): void {
    for (const socket of this.#server.clients) {
      this.#frozen.add(socket);
      socket.pause();
    }
  }

  /** Ends the connections and refuses new ones while `away` is true. */
  setAway(away: boolean): void {
    this.#isAway = away;
    if (away) this.drop();
  }

  stop(): Promise<void> {
    this.drop();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #connect(socket: WebSocket): void {
    socket.on("error", () => {});
    if (this.#isAway) {
      socket.terminate();
      return;
    }
    socket.on("message", (data) => this.#receive(socket, String(data)));
    socket.on("close", () => {
      if (this.#current === socket) this.#current = undefined;
    });
  }

  #receive(socket: WebSocket, text: string): void {
    if (this.#frozen.has(socket)) return;
    const frame = readFrame(text);
    if (frame === undefined) {
      socket.close(1008, "invalid frame");
      return;
    }
    this.frames.push(frame);
    const ack = this.#answer(socket, frame);
    if (ack === "cut") socket.terminate();
    else if (ack !== "hang") socket.send(JSON.stringify({ headers: { req_id: frame.reqId }, ...ack }));
  }

  #answer(socket: WebSocket, frame: WecomFrame): Ack | "hang" | "cut" {
    if (frame.cmd === "aibot_subscribe") return this.#subscribe(socket, frame.body);
    if (this.#current !== socket || this.#options.isRevoked()) return refusals.credentials();
    if (frame.cmd === "ping") return ok();
    const fault = this.#options.faults.take(frame.cmd);
    switch (fault?.kind) {
      case "rate":
        return refusals.rate();
      case "busy":
        return refusals.busy();
      case "hang":
      case "cut":
        this.#options.handle(frame);
        return fault.kind;
      case undefined:
        return this.#options.handle(frame);
    }
  }

  #subscribe(socket: WebSocket, body: Raw): Ack {
    if (!this.#options.authenticate(body)) return refusals.credentials();
    const older = this.#current;
    this.#current = socket;
    if (older !== undefined && older !== socket) this.#displace(older);
    return ok();
  }

  #displace(socket: WebSocket): void {
    const event = { eventtype: "disconnected_event" };
    const body = { msgid: `displaced-${this.frames.length}`, aibotid: BOT_ID, msgtype: "event", event };
    socket.send(
      JSON.stringify({ cmd: "aibot_event_callback", headers: { req_id: `displaced-${Date.now()}` }, body }),
    );
    setTimeout(() => socket.terminate(), this.#options.displacedMs).unref();
  }
}

function readFrame(text: string): WecomFrame | undefined {
  const value = parseJson(text);
  if (!isRaw(value) || !isRaw(value["headers"])) return undefined;
  const { cmd, headers, body } = value;
  const reqId = headers["req_id"];
  if (typeof cmd !== "string" || typeof reqId !== "string" || reqId === "") return undefined;
  return { cmd, reqId, body: isRaw(body) ? body : {}, text };
}
