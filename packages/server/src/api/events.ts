import { defaultAgent, EventsQuery, type ServerFrame } from "@signalbox/protocol";
import type { Context, Handler } from "hono";
import { COMMENT, COMMENT_MS } from "../comments.ts";
import type { Env } from "../guard.ts";
import { MAX_BUFFERED, openView } from "../live/view.ts";
import type { OpenConnections } from "../open-connections.ts";
import { type ScopedService, scopeService } from "../scope.ts";
import type { GatewayService } from "../service.ts";
import { apiErrors } from "./errors.ts";

const HEADERS = { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" };

/**
 * `GET /api/conversations/:id/events`: the frames of one conversation as server-sent events, each with its cursor as
 * `id`. A client that comes back sends the last one as `Last-Event-ID`, and is shown what it missed.
 */
export function eventStreams(service: GatewayService, connections: OpenConnections): Handler<Env> {
  return (context) => {
    const query = queryOf(context);
    if (!query.success)
      return apiErrors.badQuery(
        context,
        "Give a conversation and an agent of at most 200 characters each, and pass cursors back unchanged.",
      );
    // Nobody would read the stream, nor close it.
    if (context.req.method === "HEAD") return context.body(null, 200, HEADERS);
    const access = context.get("access");
    if (connections.isFull(access.principal)) return apiErrors.tooManyStreams(context);
    const own = scopeService(service, access.principal);
    const body = streamOf(own, query.data, {
      opened: (end) => connections.add(access, end),
      cut: () => context.env.outgoing.destroy(),
    });
    return context.body(body, 200, HEADERS);
  };
}

function queryOf({ req }: Context<Env>) {
  const agent = req.query("agent");
  const after = req.header("last-event-id") ?? req.query("after");
  return EventsQuery.safeParse({
    conversation: req.param("id"),
    ...(agent === undefined ? {} : { agent }),
    ...(after === undefined || after === "" ? {} : { after }),
  });
}

interface Wire {
  /** Told what ends the stream; what it returns is called when it has closed. */
  readonly opened: (end: () => void) => () => void;
  /** Ends the connection without sending what still waits. */
  readonly cut: () => void;
}

function streamOf(
  service: ScopedService,
  { conversation, agent = defaultAgent(service.agents())?.id ?? "", after }: EventsQuery,
  { opened, cut }: Wire,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let isOpen = true;
  let close = (): void => {};
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const write = (text: string): void => {
          if (!isOpen) return;
          controller.enqueue(encoder.encode(text));
          if ((controller.desiredSize ?? 0) > 0) return;
          close();
          cut();
        };
        const show = (frame: ServerFrame): void => write(eventOf(frame));
        const view = openView({ service, agent, conversation, show });
        const comments = setInterval(() => write(COMMENT), COMMENT_MS).unref();
        const closed = opened(() => {
          close();
          controller.close();
        });
        close = () => {
          isOpen = false;
          view.end();
          clearInterval(comments);
          closed();
        };
        try {
          view.greet(after);
        } catch (error) {
          close();
          throw error;
        }
      },
      cancel: () => close(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: MAX_BUFFERED }),
  );
}

function eventOf(frame: ServerFrame): string {
  const id = "cursor" in frame && frame.cursor !== undefined ? `id: ${frame.cursor}\n` : "";
  return `${id}data: ${JSON.stringify(frame)}\n\n`;
}
