import { reasonOf } from "@signalbox/channel";
import {
  type ClientFrame,
  defaultAgent,
  PROTOCOL,
  parseClientFrame,
  type SendFrame,
  type ServerFrame,
  type SubscribeFrame,
} from "@signalbox/protocol";
import { getStoreError, type StoreErrorCode } from "@signalbox/store/errors";
import type { WebSocket } from "ws";
import { isAgent, submitMessage } from "../api/submit-message.ts";
import { hasScope, type Principal } from "../auth/index.ts";
import type { ActivityWatch } from "../live/activity.ts";
import { MAX_BUFFERED, openView, type View } from "../live/view.ts";
import type { Logger } from "../logger.ts";
import { getUserInfo, type ScopedService, scopeService } from "../scope.ts";
import type { GatewayService } from "../service.ts";

/** Conversations that one socket can subscribe to. A new subscription replaces the oldest beyond that. */
const MAX_SUBSCRIPTIONS = 100;

/** Frames that require the scope `chat`. */
const CHAT_FRAMES: ReadonlySet<ClientFrame["type"]> = new Set(["subscribe", "unsubscribe", "send", "abort"]);

/** Serves one connection to `/ws` until it closes. */
export function serveConnection(socket: WebSocket, options: ConnectionOptions): void {
  const { logger } = options;
  const connection = new Connection(socket, options);
  socket.on("message", (data, binary) => connection.read(binary ? "" : data.toString()));
  socket.on("error", (error) => logger.debug({ err: error.message }, "WebSocket connection failed"));
  socket.on("close", () => connection.close());
  connection.greet();
}

/** Faults of the store that an operator can correct. */
const STORE_FAULTS: Readonly<Partial<Record<StoreErrorCode, string>>> = {
  disk_full: "its disk is full",
  locked: "another process keeps its database locked",
  unreachable: "its database server cannot be reached",
};

/** Returns the reason for the client. The log has the details. */
function describeRefusedMessage(error: unknown): string {
  const code = getStoreError(error)?.code;
  const reason = code === undefined ? undefined : STORE_FAULTS[code];
  return `The gateway could not accept the message${reason === undefined ? "" : `: ${reason}`}.`;
}

export interface ConnectionOptions {
  readonly service: GatewayService;
  readonly principal: Principal;
  readonly watch: ActivityWatch;
  readonly logger: Logger;
  /** Called when the client sends a message, to extend its session. */
  readonly onUse: () => void;
}

class Connection {
  readonly #socket: WebSocket;
  readonly #service: ScopedService;
  readonly #principal: Principal;
  readonly #logger: Logger;
  readonly #watch: ActivityWatch;
  #unwatch: (() => void) | undefined;
  readonly #onUse: () => void;
  /** Subscriptions by conversation. */
  readonly #views = new Map<string, View>();
  /** The agent that each conversation was last used with on this connection. */
  readonly #agents = new Map<string, string>();

  constructor(socket: WebSocket, { service, principal, watch, logger, onUse }: ConnectionOptions) {
    this.#socket = socket;
    this.#service = scopeService(service, principal);
    this.#principal = principal;
    this.#watch = watch;
    this.#logger = logger;
    this.#onUse = onUse;
  }

  greet(): void {
    const agents = this.#service.agents().map((agent) => ({ ...agent }));
    const demo = agents.some((agent) => agent.demo);
    this.#send({ type: "ready", protocol: PROTOCOL, user: getUserInfo(this.#principal), agents, demo });
  }

  read(data: string): void {
    const parsed = parseClientFrame(data);
    if (parsed.ok) this.#handle(parsed.frame);
    else {
      const { ok: _, ...problem } = parsed;
      this.#send({ type: "error", code: "bad_request", ...problem });
    }
  }

  close(): void {
    for (const view of this.#views.values()) view.end();
    this.#views.clear();
    this.#unwatch?.();
  }

  #handle(frame: ClientFrame): void {
    if (CHAT_FRAMES.has(frame.type) && !hasScope(this.#principal, "chat")) {
      const message = "This token may not talk to agents.";
      this.#send({ type: "error", code: "forbidden", message });
      return;
    }
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
      case "watch":
        this.#watchGateway();
        return;
      case "unwatch":
        this.#unwatch?.();
        this.#unwatch = undefined;
        return;
      case "abort":
        this.#abort(frame.conversation).catch((error: unknown) => {
          this.#logger.error({ err: reasonOf(error) }, "failed to stop a run that a client aborted");
          const message = "The gateway could not stop the run.";
          this.#send({ type: "error", conversation: frame.conversation, code: "internal", message });
        });
        return;
      case "send":
        this.#onUse();
        this.#submit(frame).catch((error: unknown) => {
          this.#logger.error({ err: reasonOf(error) }, "failed to accept a client's message");
          const message = describeRefusedMessage(error);
          this.#send({ type: "error", id: frame.id, code: "internal", message });
        });
        return;
    }
  }

  #subscribe({ conversation, agent = this.#getAgent(conversation), after }: SubscribeFrame): void {
    this.#view(conversation, agent).start(after);
  }

  #watchGateway(): void {
    if (hasScope(this.#principal, "read")) this.#unwatch ??= this.#watch((shown) => this.#send(shown));
    else
      this.#send({
        type: "error",
        code: "forbidden",
        message: "This token may not watch the activity of the gateway.",
      });
  }

  #unsubscribe(conversation: string): void {
    this.#views.get(conversation)?.end();
    this.#views.delete(conversation);
  }

  async #abort(conversation: string): Promise<void> {
    await this.#service.abort("web", this.#getAgent(conversation), conversation);
  }

  async #submit(frame: SendFrame): Promise<void> {
    const { id, agent, conversation } = frame;
    if (isAgent(this.#service, agent)) this.#view(conversation, agent);
    const result = await submitMessage(this.#service, frame);
    if (result.kind === "accepted") this.#send({ type: "accepted", id, conversation, ...result.accepted });
    else this.#send({ type: "error", id, conversation, ...result.problem });
  }

  /** Subscribes to a conversation with an agent, replacing a subscription with another agent. */
  #view(conversation: string, agent: string): View {
    const open = this.#views.get(conversation);
    if (open !== undefined && this.#agents.get(conversation) === agent) return open;
    this.#unsubscribe(conversation);
    this.#agents.set(conversation, agent);
    const [oldest] = this.#views.keys();
    if (oldest !== undefined && this.#views.size >= MAX_SUBSCRIPTIONS) {
      this.#unsubscribe(oldest);
      this.#agents.delete(oldest);
    }
    const show = (frame: ServerFrame): void => this.#send(frame);
    const view = openView({ service: this.#service, agent, conversation, show });
    this.#views.set(conversation, view);
    return view;
  }

  #getAgent(conversation: string): string {
    return this.#agents.get(conversation) ?? defaultAgent(this.#service.agents())?.id ?? "";
  }

  #send(frame: ServerFrame): void {
    if (this.#socket.bufferedAmount > MAX_BUFFERED) this.#socket.terminate();
    else this.#socket.send(JSON.stringify(frame));
  }
}
