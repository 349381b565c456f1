import * as z from "zod/mini";
import { UploadId } from "./bodies.ts";

/** A conversation or agent id. Control characters are not allowed, because ids appear in logs and URLs. */
export const Name = z.string().check(z.regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,200}$/u));

/** A position in the events of a conversation. Opaque to clients. */
export const EventCursor = z.string().check(z.maxLength(100));

/** Maximum number of files in a message. */
export const MAX_ATTACHMENTS = 20;

/** A file that the client uploaded earlier with `PUT /api/uploads/:id`. */
export const SentAttachment = z.object({
  id: UploadId,
  name: z.optional(z.string().check(z.regex(/^[^\p{Cc}]{1,200}$/u))),
  mimeType: z.string().check(z.maxLength(200)),
  bytes: z.number(),
});
export type SentAttachment = z.infer<typeof SentAttachment>;

/** Fields of a message to an agent, used by the socket and by HTTP. */
export const messageFields = {
  /** Idempotency key from the client: 1 to 64 letters, digits, `_` and `-`. */
  id: z.string().check(z.regex(/^[\w-]{1,64}$/)),
  agent: Name,
  /** May be empty only if there are attachments. */
  text: z.string(),
  attachments: z.optional(z.array(SentAttachment).check(z.maxLength(MAX_ATTACHMENTS))),
};

/**
 * Body of `POST /api/conversations/:id/messages`. The response is a {@link MessageAccepted} once the message is
 * durable. A client that gets no response repeats the request with the same `id`.
 */
export const MessageToSend = z.object(messageFields);
export type MessageToSend = z.infer<typeof MessageToSend>;

/** Response of `POST /api/conversations/:id/messages`. */
export const MessageAccepted = z.object({
  messageId: z.string(),
  /** True if a message with the same `id` was accepted earlier, so that this request had no effect. */
  duplicate: z.boolean(),
});
export type MessageAccepted = z.infer<typeof MessageAccepted>;

/** Body of `POST /api/conversations/:id/abort`, which stops the current run, if any. The response is 204. */
export const AbortRequest = z.strictObject({
  /** Default: the gateway's default agent. */
  agent: z.optional(Name),
});
export type AbortRequest = z.infer<typeof AbortRequest>;

/** Parameters of `GET /api/conversations/:id/events`. The header `Last-Event-ID` takes precedence over `after`. */
export const EventsQuery = z.object({
  conversation: Name,
  /** Default: the gateway's default agent. */
  agent: z.optional(Name),
  after: z.optional(EventCursor),
});
export type EventsQuery = z.infer<typeof EventsQuery>;
