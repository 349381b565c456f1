import { defaultAgent, EventsQuery, type ServerFrame } from "@signalbox/protocol";
import type { Context, Handler } from "hono";
import { apiErrors } from "../error-replies.ts";
import { KEEP_ALIVE, KEEP_ALIVE_MS } from "../event-stream.ts";
import { MAX_BUFFERED, openView } from "../live/view.ts";
import type { Env } from "../middleware.ts";
import type { OpenConnections } from "../open-connections.ts";
import { type ScopedService, scopeService } from "../scope.ts";
import type { GatewayService } from "../service.ts";

const HEADERS = { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" };

/**
 * `GET /api/conversations/:id/events`: streams the frames of one conversation as server-sent events. The `id` of an
 * event is its cursor. A client that reconnects sends the last one as `Last-Event-ID` and receives the events since.
 */
export function eventStreams(service: GatewayService, connections: OpenConnections): Handler<Env> {
  return (context) => {
    const query = parseQuery(context);
    if (!query.success)
      return apiErrors.badQuery(
        context,
        "Use a conversation id and an agent id of at most 200 characters, and pass cursors back unchanged.",
      );
    // A response to HEAD has no body, so nothing would ever close a stream opened for it.
    if (context.req.method === "HEAD") return context.body(null, 200, HEADERS);
    const access = context.get("access");
    if (connections.isFull(access.principal)) return apiErrors.tooManyStreams(context);
    const scoped = scopeService(service, access.principal);
    const body = createEventStream(scoped, query.data, {
      onOpen: (end) => connections.add(access, end),
      cut: () => context.env.outgoing.destroy(),
    });
    return context.body(body, 200, HEADERS);
  };
}

function parseQuery({ req }: Context<Env>) {
  const after = req.header("last-event-id") ?? req.query("after");
  return EventsQuery.safeParse({
    conversation: req.param("id"),
    agent: req.query("agent"),
    after: after === "" ? undefined : after,
  });
}

interface Transport {
  /** Receives a function that ends the stream, and returns a function to call when it has closed. */
  readonly onOpen: (end: () => void) => () => void;
  /** Destroys the connection without sending buffered data. */
  readonly cut: () => void;
}

function createEventStream(
  service: ScopedService,
  { conversation, agent = defaultAgent(service.agents())?.id ?? "", after }: EventsQuery,
  { onOpen, cut }: Transport,
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
        const show = (frame: ServerFrame): void => write(formatEvent(frame));
        const view = openView({ service, agent, conversation, show });
        const keepAlive = setInterval(() => write(KEEP_ALIVE), KEEP_ALIVE_MS).unref();
        const onClosed = onOpen(() => {
          close();
          controller.close();
        });
        close = () => {
          isOpen = false;
          view.end();
          clearInterval(keepAlive);
          onClosed();
        };
        try {
          view.start(after);
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

function formatEvent(frame: ServerFrame): string {
  const id = "cursor" in frame && frame.cursor !== undefined ? `id: ${frame.cursor}\n` : "";
  return `${id}data: ${JSON.stringify(frame)}\n\n`;
}
