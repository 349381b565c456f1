import {
  type ClientFrame,
  defaultAgent,
  type LiveEvent,
  PROTOCOL,
  parseClientFrame,
  type SendFrame,
  type ServerFrame,
  type SubscribeFrame,
} from "@signalbox/protocol";
import type { WebSocket } from "ws";
import { userOf } from "../api/routes.ts";
import type { Principal } from "../auth/index.ts";
import { messageOf } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { type ScopedService, scopeService } from "../scope.ts";
import type { GatewayService } from "../service.ts";
import { createCoalescer } from "./coalesce.ts";

/** A viewer that does not read is cut off, so that it cannot fill the gateway's memory. */
const MAX_BUFFERED = 8_000_000;

/** Conversations that a viewer sees at once: beyond it, the one that it opened first is shown no more. */
const MAX_SUBSCRIPTIONS = 100;

/** Serves one connection to `/ws` until it closes. */
export function serveConnection(socket: WebSocket, options: ConnectionOptions): void {
  const { service, principal, logger } = options;
  const connection = new Connection(socket, scopeService(service, principal), options);
  socket.on("message", (data, binary) => connection.read(binary ? "" : data.toString()));
  socket.on("error", (error) => logger.debug({ err: error.message }, "a viewer's connection failed"));
  socket.on("close", () => connection.close());
  connection.greet(principal);
}

export interface ConnectionOptions {
  readonly service: GatewayService;
  /** Who has opened it. */
  readonly principal: Principal;
  readonly logger: Logger;
  /** Called with each message that is sent: somebody sits at the other end. */
  readonly used: () => void;
}

class Connection {
  readonly #socket: WebSocket;
  readonly #service: ScopedService;
  readonly #logger: Logger;
  readonly #used: () => void;
  /** The end of each subscription, by conversation. */
  readonly #subscriptions = new Map<string, () => void>();
  /** The agent a conversation was last used with on this connection. */
  readonly #agents = new Map<string, string>();

  constructor(socket: WebSocket, service: ScopedService, { logger, used }: ConnectionOptions) {
    this.#socket = socket;
    this.#service = service;
    this.#logger = logger;
    this.#used = used;
  }

  greet(principal: Principal): void {
    const agents = this.#service.agents().map((agent) => ({ ...agent }));
    const demo = agents.some((agent) => agent.demo);
    this.#send({ type: "ready", protocol: PROTOCOL, user: userOf(principal), agents, demo });
  }

  read(data: string): void {
    const parsed = parseClientFrame(data);
    if (parsed.ok) this.#take(parsed.frame);
    else {
      const { ok: _, ...problem } = parsed;
      this.#send({ type: "error", code: "bad_request", ...problem });
    }
  }

  close(): void {
    for (const end of this.#subscriptions.values()) end();
    this.#subscriptions.clear();
  }

  #take(frame: ClientFrame): void {
    switch (frame.type) {
      case "ping":
        this.#send({ type: "pong" });
        return;
      case "subscribe":
        this.#subscribe(frame);
        return;
      case "unsubscribe":
        this.#unsubscribe(frame.conversation);
        return;
      case "abort":
        this.#service.abort("web", this.#agentOf(frame.conversation), frame.conversation);
        return;
      case "send":
        this.#used();
        this.#submit(frame).catch((error: unknown) => {
          this.#logger.error({ err: messageOf(error) }, "a client's message was not accepted");
          const message = "The gateway could not take the message.";
          this.#send({ type: "error", id: frame.id, code: "internal", message });
        });
        return;
    }
  }

  #subscribe({ conversation, agent = this.#agentOf(conversation) }: SubscribeFrame): void {
    const sessionKey = this.#watch(conversation, agent);
    const lastRun = this.#service.lastRun(sessionKey);
    this.#send({
      type: "subscribed",
      conversation,
      busy: this.#service.busy(sessionKey),
      ...(lastRun === undefined ? {} : { lastRun }),
    });
    for (const event of this.#service.live.running(sessionKey)) this.#show(conversation, event);
  }

  #unsubscribe(conversation: string): void {
    this.#subscriptions.get(conversation)?.();
    this.#subscriptions.delete(conversation);
  }

  async #submit({ id, agent, conversation, text, attachments: uploads = [] }: SendFrame): Promise<void> {
    if (!this.#service.agents().some((one) => one.id === agent)) {
      const message = `There is no agent ${agent}.`;
      return this.#send({ type: "error", id, conversation, code: "unknown_agent", message });
    }
    this.#watch(conversation, agent);
    const submitted = await this.#service.submit({
      channel: "web",
      agent,
      conversation,
      id,
      text,
      uploads,
    });
    if (submitted.kind === "refused") {
      const { code, message } = submitted;
      return this.#send({ type: "error", id, conversation, code, message });
    }
    const { kind, messageId } = submitted;
    this.#send({ type: "accepted", id, conversation, messageId, duplicate: kind === "duplicate" });
  }

  /** Shows a conversation with an agent from now on, in the place of one with another agent. */
  #watch(conversation: string, agent: string): string {
    const sessionKey = this.#service.sessionKey("web", agent, conversation);
    if (this.#agents.get(conversation) === agent && this.#subscriptions.has(conversation)) return sessionKey;
    this.#unsubscribe(conversation);
    this.#agents.set(conversation, agent);
    const [oldest] = this.#subscriptions.keys();
    if (oldest !== undefined && this.#subscriptions.size >= MAX_SUBSCRIPTIONS) {
      this.#unsubscribe(oldest);
      this.#agents.delete(oldest);
    }
    const { push, end } = createCoalescer((event) => this.#show(conversation, event));
    const unsubscribe = this.#service.live.subscribe(sessionKey, push);
    this.#subscriptions.set(conversation, () => {
      unsubscribe();
      end();
    });
    return sessionKey;
  }

  #agentOf(conversation: string): string {
    return this.#agents.get(conversation) ?? defaultAgent(this.#service.agents())?.id ?? "";
  }

  #show(conversation: string, event: LiveEvent): void {
    this.#send({ ...event, conversation });
  }

  #send(frame: ServerFrame): void {
    if (this.#socket.bufferedAmount > MAX_BUFFERED) this.#socket.terminate();
    else this.#socket.send(JSON.stringify(frame));
  }
}
