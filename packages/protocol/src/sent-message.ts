import * as z from "zod/mini";
import { UploadId } from "./bodies.ts";

/** A conversation or agent id: no control characters, since ids end up in logs and addresses. */
export const Name = z.string().check(z.regex(/^[^\p{Cc}]{1,200}$/u));

/** A place among the events of a conversation, in the gateway's own words: a client keeps it and gives it back. */
export const EventCursor = z.string().check(z.maxLength(100));

/** Files of a message, at most. */
export const MAX_ATTACHMENTS = 20;

/** A file that was uploaded before, by `PUT /api/uploads/:id`. */
export const SentAttachment = z.object({
  id: UploadId,
  name: z.exactOptional(z.string().check(z.regex(/^[^\p{Cc}]{1,200}$/u))),
  mimeType: z.string().check(z.maxLength(200)),
  bytes: z.number(),
});
export type SentAttachment = z.infer<typeof SentAttachment>;

/** What a message to an agent consists of, over a socket and over HTTP. */
export const messageFields = {
  /** Idempotency key made by the client; 1 to 64 letters, digits, `_` and `-`. */
  id: z.string().check(z.regex(/^[\w-]{1,64}$/)),
  agent: Name,
  /** Empty only where something comes with it. */
  text: z.string(),
  attachments: z.exactOptional(z.array(SentAttachment).check(z.maxLength(MAX_ATTACHMENTS))),
};

/**
 * `POST /api/conversations/:id/messages`, answered with a {@link MessageAccepted} once it is durable. The same `id`
 * again is the same message, so a client repeats what it has no answer to.
 */
export const MessageToSend = z.object(messageFields);
export type MessageToSend = z.infer<typeof MessageToSend>;

export const MessageAccepted = z.object({
  messageId: z.string(),
  /** The same `id` had been accepted before; nothing was done anew. */
  duplicate: z.boolean(),
});
export type MessageAccepted = z.infer<typeof MessageAccepted>;

/** `POST /api/conversations/:id/abort`: stops the run of a conversation, if there is one; 204. */
export const AbortRequest = z.strictObject({
  /** Default: the gateway's default agent. */
  agent: z.exactOptional(Name),
});
export type AbortRequest = z.infer<typeof AbortRequest>;

/** What `GET /api/conversations/:id/events` is asked for; a `Last-Event-ID` header stands before `after`. */
export const EventsQuery = z.object({
  conversation: Name,
  /** Default: the gateway's default agent. */
  agent: z.exactOptional(Name),
  after: z.exactOptional(EventCursor),
});
export type EventsQuery = z.infer<typeof EventsQuery>;
