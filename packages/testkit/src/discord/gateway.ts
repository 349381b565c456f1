import { randomUUID } from "node:crypto";
import { type WebSocket, WebSocketServer } from "ws";
import { parseJson } from "../http.ts";
import { isRaw, type Raw } from "../raw.ts";

/** Source: Discord's pages on gateway operation codes, close codes and intents. */
const op = {
  dispatch: 0,
  heartbeat: 1,
  identify: 2,
  resume: 6,
  reconnect: 7,
  invalidSession: 9,
  hello: 10,
  heartbeatAck: 11,
} as const;
const closeCode = {
  unknownOpcode: 4001,
  decodeError: 4002,
  notAuthenticated: 4003,
  authenticationFailed: 4004,
  alreadyAuthenticated: 4005,
  invalidSequence: 4007,
  invalidIntents: 4013,
  disallowedIntents: 4014,
} as const;
const intent = {
  guilds: 1 << 0,
  guildMembers: 1 << 1,
  presences: 1 << 8,
  guildMessages: 1 << 9,
  guildReactions: 1 << 10,
  directMessages: 1 << 12,
  directReactions: 1 << 13,
  messageContent: 1 << 15,
} as const;
const privileged = intent.guildMembers | intent.presences | intent.messageContent;
const mostIntents = 1 << 26;

export interface GatewayRules {
  readonly token: () => string | undefined;
  readonly botId: string;
  /** True if the application may request the content of messages. */
  readonly mayReadContent: boolean;
  readonly heartbeatMs: number;
  /** Number of events of a session that can be resent. */
  readonly keeps: number;
  /** Returns the first events after `READY`. */
  readonly ready: () => { readonly data: Raw; readonly guilds: readonly unknown[] };
}

interface Session {
  readonly id: string;
  readonly intents: number;
  sequence: number;
  readonly events: Raw[];
  socket: WebSocket | undefined;
}

/** The WebSocket that sends events. */
export class Gateway {
  readonly url: string;
  readonly #server: WebSocketServer;
  readonly #rules: GatewayRules;
  readonly #sessions = new Map<string, Session>();
  readonly #frozen = new WeakSet<WebSocket>();
  /** Connections that Discord closed, whose close code does not end the session. */
  readonly #closed = new WeakSet<WebSocket>();
  readonly #awaited: { readonly socket: WebSocket; tell(sequence: number | null | undefined): void }[] = [];
  /** Number of sessions that were started and resumed. */
  identifies = 0;
  resumes = 0;
  identifiesLeft = 1_000;
  /** True: connections are accepted and receive nothing. */
  isSilent = false;
  /** Awaited before a connection opens. */
  opening: () => Promise<void> = () => Promise.resolve();
  /** Number of connections that were opened. */
  opened = 0;
  /** True: requests to resume get no response. */
  ignoresResume = false;

  static async start(rules: GatewayRules): Promise<Gateway> {
    let started: Gateway | undefined;
    const server = new WebSocketServer({
      host: "127.0.0.1",
      port: 0,
      verifyClient: (_, accept) => void started?.opening().then(() => accept(true)),
    });
    await new Promise<void>((resolve) => server.once("listening", resolve));
    started = new Gateway(server, rules);
    return started;
  }

  private constructor(server: WebSocketServer, rules: GatewayRules) {
    this.#server = server;
    this.#rules = rules;
    const address = server.address();
    this.url = `ws://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
    server.on("connection", (socket) => this.#welcome(socket));
  }

  /** Sends an event. Returns its sequence number, or `undefined` without a session. */
  dispatch(type: string, data: Raw): number | undefined {
    let sequence: number | undefined;
    for (const session of this.#sessions.values()) {
      if ((session.intents & intentOf(type, data)) === 0 && intentOf(type, data) !== 0) continue;
      sequence = this.#tell(session, type, this.#readable(session, type, data));
    }
    return sequence;
  }

  /** Requests a heartbeat. Resolves with its sequence number, or `undefined` if the connection ends first. */
  heartbeat(): Promise<number | null | undefined> {
    const socket = this.#standing()[0];
    if (socket === undefined) return Promise.resolve(undefined);
    return new Promise((tell) => {
      this.#awaited.push({ socket, tell });
      send(socket, { op: op.heartbeat, d: null });
    });
  }

  connections(): number {
    return this.#standing().length;
  }

  /** Number of open connections, with or without a session. */
  open(): number {
    return this.#server.clients.size;
  }

  /** Ends all connections, with a close code as Discord does or, without one, like a broken line. */
  drop(code?: number): void {
    for (const socket of this.#server.clients) {
      this.#closed.add(socket);
      if (code === undefined) socket.terminate();
      else socket.close(code);
    }
  }

  /** Keeps the connections open, but neither sends nor answers anything, as on a dead line. */
  freeze(): void {
    for (const socket of this.#standing()) this.#frozen.add(socket);
  }

  askToReconnect(): void {
    for (const socket of this.#standing()) send(socket, { op: op.reconnect, d: null });
  }

  /** Ends the sessions, so that they cannot be resumed. */
  invalidate(): void {
    const sockets = this.#standing();
    this.#sessions.clear();
    for (const socket of sockets) send(socket, { op: op.invalidSession, d: false });
  }

  stop(): Promise<void> {
    for (const socket of this.#server.clients) socket.terminate();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #standing(): WebSocket[] {
    return [...this.#sessions.values()].flatMap(({ socket }) =>
      socket !== undefined && socket.readyState === socket.OPEN && !this.#frozen.has(socket) ? [socket] : [],
    );
  }

  #welcome(socket: WebSocket): void {
    socket.on("error", () => {});
    this.opened += 1;
    if (this.isSilent) return;
    let session: Session | undefined;
    socket.on("message", (data) => {
      if (this.#frozen.has(socket)) return;
      const frame = parseJson(String(data));
      if (!isRaw(frame)) return socket.close(closeCode.decodeError);
      const { op: code, d } = frame;
      if (code === op.heartbeat) return this.#beat(socket, d);
      if (code !== op.identify && code !== op.resume)
        return socket.close(session === undefined ? closeCode.notAuthenticated : closeCode.unknownOpcode);
      if (session !== undefined) return socket.close(closeCode.alreadyAuthenticated);
      if (code === op.resume && this.ignoresResume) return;
      session = code === op.identify ? this.#identify(socket, d) : this.#resume(socket, d);
    });
    socket.on("close", (code) => {
      this.#tellOf(socket, undefined);
      if (session?.socket !== socket) return;
      session.socket = undefined;
      // These close codes from the bot end its session.
      if (!this.#closed.has(socket) && (code === 1000 || code === 1001)) this.#sessions.delete(session.id);
    });
    send(socket, { op: op.hello, d: { heartbeat_interval: this.#rules.heartbeatMs } });
  }

  #beat(socket: WebSocket, sequence: unknown): void {
    send(socket, { op: op.heartbeatAck });
    this.#tellOf(socket, typeof sequence === "number" ? sequence : null);
  }

  /** Resolves the pending heartbeats of a connection. */
  #tellOf(socket: WebSocket, sequence: number | null | undefined): void {
    const awaited = this.#awaited.splice(0);
    for (const one of awaited) {
      if (one.socket === socket) one.tell(sequence);
      else this.#awaited.push(one);
    }
  }

  #identify(socket: WebSocket, d: unknown): Session | undefined {
    const given = isRaw(d) ? d : {};
    const intents = Number(given["intents"]);
    if (given["token"] !== this.#rules.token()) return closed(socket, closeCode.authenticationFailed);
    if (!Number.isInteger(intents) || intents < 0 || intents >= mostIntents)
      return closed(socket, closeCode.invalidIntents);
    const refused = privileged & ~(this.#rules.mayReadContent ? intent.messageContent : 0);
    if ((intents & refused) !== 0) return closed(socket, closeCode.disallowedIntents);
    this.identifies += 1;
    this.identifiesLeft -= 1;
    const session = { id: randomUUID().replaceAll("-", ""), intents, sequence: 0, events: [], socket };
    this.#sessions.set(session.id, session);
    const { data, guilds } = this.#rules.ready();
    this.#tell(session, "READY", { ...data, v: 10, session_id: session.id, resume_gateway_url: this.url });
    if ((intents & intent.guilds) !== 0)
      for (const guild of guilds) this.#tell(session, "GUILD_CREATE", guild);
    return session;
  }

  #resume(socket: WebSocket, d: unknown): Session | undefined {
    const given = isRaw(d) ? d : {};
    if (given["token"] !== this.#rules.token()) return closed(socket, closeCode.authenticationFailed);
    const session = this.#sessions.get(String(given["session_id"]));
    const sequence = Number(given["seq"]);
    if (session === undefined) {
      send(socket, { op: op.invalidSession, d: false });
      return undefined;
    }
    const oldest = Number(session.events[0]?.["s"] ?? 1);
    if (!Number.isInteger(sequence) || sequence > session.sequence || sequence < oldest - 1)
      return closed(socket, closeCode.invalidSequence);
    this.resumes += 1;
    session.socket?.terminate();
    session.socket = socket;
    for (const event of session.events) if (Number(event["s"]) > sequence) send(socket, event);
    this.#tell(session, "RESUMED", {});
    return session;
  }

  #tell(session: Session, type: string, data: unknown): number {
    session.sequence += 1;
    const event = { op: op.dispatch, t: type, s: session.sequence, d: data };
    session.events.push(event);
    if (session.events.length > 2 * this.#rules.keeps) session.events.splice(0, this.#rules.keeps);
    const { socket } = session;
    if (socket !== undefined && !this.#frozen.has(socket)) send(socket, event);
    return session.sequence;
  }

  /** Removes the content of messages for bots without the intent, except in messages that mention the bot. */
  #readable(session: Session, type: string, data: Raw): Raw {
    if (!type.startsWith("MESSAGE_") || data["guild_id"] === undefined) return data;
    if ((session.intents & intent.messageContent) !== 0 || JSON.stringify(data).includes(this.#rules.botId))
      return data;
    return { ...data, content: "", embeds: [], attachments: [], components: [] };
  }
}

/** Returns the intent that an event requires, or 0 if it requires none. */
function intentOf(type: string, data: Raw): number {
  const isDirect = data["guild_id"] === undefined;
  if (type.startsWith("MESSAGE_REACTION")) return isDirect ? intent.directReactions : intent.guildReactions;
  if (type.startsWith("MESSAGE_")) return isDirect ? intent.directMessages : intent.guildMessages;
  return /^(GUILD|CHANNEL|THREAD)_/.test(type) ? intent.guilds : 0;
}

function send(socket: WebSocket, frame: unknown): void {
  socket.send(JSON.stringify(frame));
}

function closed(socket: WebSocket, code: number): undefined {
  socket.close(code);
}
