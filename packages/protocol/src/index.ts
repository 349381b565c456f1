/**
 * The protocol between the gateway and its own clients: frames of the WebSocket `/ws` and of event streams, and bodies
 * of the HTTP API under `/api`. Each export is a zod schema and the type of its output.
 *
 * Times are milliseconds since the epoch, durations are milliseconds, and costs are millionths of a US dollar. A frame
 * is one JSON object. Readers ignore fields and frame types that they do not know.
 */
export * from "./activity.ts";
export * from "./agent-details.ts";
export type { ApiRoute } from "./api-route.ts";
export * from "./bodies.ts";
export * from "./client-frames.ts";
export * from "./configuration.ts";
export * from "./mcp.ts";
export * from "./mcp-tools.ts";
export * from "./memory.ts";
export * from "./nodes.ts";
export * from "./owner-bodies.ts";
export * from "./records.ts";
export { API_ROUTES } from "./routes.ts";
export * from "./scopes.ts";
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
export * from "./setup.ts";
export * from "./skills.ts";
export * from "./usage.ts";
export * from "./values.ts";
