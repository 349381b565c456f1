/**
 * What travels between the gateway and its own clients: the frames of the WebSocket `/ws` and of event streams, and
 * the bodies of the HTTP API under `/api`. Each name is both a schema and the type that it checks.
 *
 * Times are Unix milliseconds, durations milliseconds, costs integer micro-units of the account's currency.
 * Frames are JSON texts, one object a frame. Fields and frame types that a reader does not know are ignored.
 */
export * from "./activity.ts";
export * from "./bodies.ts";
export * from "./client-frames.ts";
export * from "./owner-bodies.ts";
export {
  AbortRequest,
  EventsQuery,
  MAX_ATTACHMENTS,
  MessageAccepted,
  MessageToSend,
  SentAttachment,
} from "./sent-message.ts";
export * from "./server-frames.ts";
export * from "./session-key.ts";
export * from "./usage.ts";
export * from "./values.ts";
