import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import {
  defaultAgent,
  PROTOCOL,
  parseClientFrame,
  type SendFrame,
  type ServerFrame,
  type SubscribeFrame,
} from "@signalbox/protocol";
import { type WebSocket, WebSocketServer } from "ws";
import { messageOf } from "../errors.ts";
import type { Logger } from "../log.ts";
import type { LiveEvent } from "../service/live.ts";
import type { GatewayService } from "../service/service.ts";

const MAX_FRAME = 1_000_000;
/** A viewer that does not read is cut off, so that it cannot fill the gateway's memory. */
const MAX_BUFFERED = 8_000_000;

/** Takes over upgraded connections to `/ws`; who may connect is decided before. */
export interface SocketUpgrade {
  handle(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Ends every connection. */
  close(): void;
}

export function createSocketUpgrade(service: GatewayService, logger: Logger): SocketUpgrade {
  const server = new WebSocketServer({ noServer: true, maxPayload: MAX_FRAME });
  return {
    handle(request, socket, head) {
      server.handleUpgrade(request, socket, head, (connection) => serve(connection, service, logger));
    },
    close() {
      for (const connection of server.clients) connection.close(1001, "the gateway is stopping");
    },
  };
}

function serve(connection: WebSocket, service: GatewayService, logger: Logger): void {
  /** The end of each subscription, by conversation. */
  const subscriptions = new Map<string, () => void>();
  /** The agent a conversation was last used with on this connection. */
  const agentOf = new Map<string, string>();

  const send = (frame: ServerFrame): void => {
    if (connection.bufferedAmount > MAX_BUFFERED) connection.terminate();
    else connection.send(JSON.stringify(frame));
  };
  const watch = (conversation: string, agent: string): string => {
    const sessionKey = service.sessionKey("web", agent, conversation);
    if (agentOf.get(conversation) !== agent || !subscriptions.has(conversation)) {
      subscriptions.get(conversation)?.();
      agentOf.set(conversation, agent);
      subscriptions.set(
        conversation,
        service.live.subscribe(sessionKey, (event) => {
          for (const frame of framesOf(conversation, event)) send(frame);
        }),
      );
    }
    return sessionKey;
  };
  const subscribe = ({ conversation, agent }: SubscribeFrame): void => {
    const named = agent ?? agentOf.get(conversation) ?? defaultAgent(service.agents())?.id ?? "";
    const sessionKey = watch(conversation, named);
    const lastRun = service.lastRun(sessionKey);
    send({
      type: "subscribed",
      conversation,
      busy: service.busy(sessionKey),
      ...(lastRun ? { lastRun } : {}),
    });
    for (const event of service.live.running(sessionKey)) {
      for (const frame of framesOf(conversation, event)) send(frame);
    }
  };
  const unsubscribe = (conversation: string): void => {
    subscriptions.get(conversation)?.();
    subscriptions.delete(conversation);
  };
  const submit = async ({ id, agent, conversation, text }: SendFrame): Promise<void> => {
    if (!service.agents().some((one) => one.id === agent)) {
      send({
        type: "error",
        id,
        conversation,
        code: "unknown_agent",
        message: `There is no agent ${agent}.`,
      });
      return;
    }
    watch(conversation, agent);
    const submitted = await service.submit({ channel: "web", agent, conversation, id, text });
    if (submitted.kind === "refused") {
      send({ type: "error", id, conversation, code: submitted.code, message: submitted.message });
    } else {
      const duplicate = submitted.kind === "duplicate";
      send({ type: "accepted", id, conversation, messageId: submitted.messageId, duplicate });
    }
  };

  connection.on("message", (data, binary) => {
    const parsed = parseClientFrame(binary ? "" : data.toString());
    if (!parsed.ok) {
      const { id, conversation } = parsed;
      send({
        type: "error",
        code: "bad_request",
        message: parsed.message,
        ...(id === undefined ? {} : { id }),
        ...(conversation === undefined ? {} : { conversation }),
      });
      return;
    }
    const { frame } = parsed;
    switch (frame.type) {
      case "ping":
        return send({ type: "pong" });
      case "subscribe":
        return subscribe(frame);
      case "unsubscribe":
        return unsubscribe(frame.conversation);
      case "abort":
        service.abort("web", agentOf.get(frame.conversation) ?? "", frame.conversation);
        return;
      case "send":
        submit(frame).catch((error: unknown) => {
          logger.error({ err: messageOf(error) }, "a message of the console was not accepted");
          send({
            type: "error",
            id: frame.id,
            code: "internal",
            message: "The gateway could not take the message.",
          });
        });
        return;
    }
  });
  connection.on("error", (error) => logger.debug({ err: error.message }, "console connection failed"));
  connection.on("close", () => {
    for (const end of subscriptions.values()) end();
  });

  const agents = service.agents().map((agent) => ({ ...agent }));
  const user = { id: "owner", name: "owner" };
  send({ type: "ready", protocol: PROTOCOL, user, agents, demo: agents.some((agent) => agent.demo) });
}

/** The frames a viewer of `conversation` gets for an event of its session. */
function framesOf(conversation: string, event: LiveEvent): ServerFrame[] {
  switch (event.type) {
    case "run.start":
      return [{ type: "run.start", conversation, runId: event.runId }];
    case "text.delta":
    case "thinking.delta":
      return [{ type: event.type, conversation, runId: event.runId, delta: event.delta }];
    case "tool.start":
      return [{ type: "tool.start", conversation, runId: event.runId, call: event.call }];
    case "tool.end":
      return [{ type: "tool.end", conversation, runId: event.runId, call: event.call }];
    case "message":
      return [{ type: "message", conversation, message: event.message }];
    case "run.end": {
      const failure: ServerFrame[] = event.error
        ? [{ type: "error", conversation, ...event.error, ...remedyFor(event.error.code) }]
        : [];
      const usage = event.usage ? { usage: event.usage } : {};
      const { runId, outcome } = event;
      return [
        ...failure,
        { type: "run.end", conversation, runId, outcome, ...usage, answers: [...event.messageIds] },
      ];
    }
  }
}

/** What the owner can do about a run that failed. */
function remedyFor(code: string): { remedy?: string } {
  switch (code) {
    case "auth":
    case "billing":
      return { remedy: "Check the provider's apiKey under models.providers, and its account." };
    case "rate_limit":
    case "overloaded":
    case "network":
    case "timeout":
      return { remedy: "Try again in a while, or give the agent fallbacks." };
    case "overflow":
      return { remedy: "Start a new conversation, or send /compact." };
    default:
      return {};
  }
}
