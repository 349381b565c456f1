import * as z from "zod/mini";
import type { ApiRoute } from "./api-route.ts";
import {
  ConversationHistory,
  ConversationList,
  ConversationTitle,
  SpeechRequest,
  SpokenMessage,
  UploadState,
} from "./bodies.ts";
import { AbortRequest, EventCursor, MessageAccepted, MessageToSend, Name } from "./sent-message.ts";
import { ServerFrame } from "./server-frames.ts";

/** Routes of a client's own conversations. Part of `API_ROUTES`. */
export const CONVERSATION_ROUTES: readonly ApiRoute[] = [
  {
    method: "GET",
    path: "/api/conversations",
    summary: "List the client's conversations.",
    access: "chat",
    response: ConversationList,
  },
  {
    method: "GET",
    path: "/api/conversations/:id/messages",
    summary: "Return the messages of a conversation.",
    access: "chat",
    response: ConversationHistory,
    errors: { 404: "The conversation does not exist." },
  },
  {
    method: "POST",
    path: "/api/conversations/:id/messages",
    summary: "Send a message. The response arrives when the message is durable; the reply arrives as events.",
    access: "chat",
    body: MessageToSend,
    response: MessageAccepted,
    errors: {
      404: "The agent does not exist.",
      409: "The id belongs to another message.",
      503: "The inbox is full, or the gateway is stopping.",
    },
  },
  {
    method: "GET",
    path: "/api/conversations/:id/events",
    summary: "Stream the frames of a conversation as server-sent events.",
    access: "chat",
    query: z.object({
      agent: z.optional(Name).check(z.describe("Default: the gateway's default agent.")),
      after: z
        .optional(EventCursor)
        .check(
          z.describe(
            "Cursor of the last frame that the client has read. The header `Last-Event-ID` takes precedence.",
          ),
        ),
    }),
    response: ServerFrame,
    isStream: true,
  },
  {
    method: "POST",
    path: "/api/conversations/:id/abort",
    summary: "Stop the current run of a conversation, if any.",
    access: "chat",
    body: AbortRequest,
  },
  {
    method: "POST",
    path: "/api/conversations/:id/rename",
    summary: "Change the title of a conversation.",
    access: "chat",
    body: ConversationTitle,
    errors: { 404: "The conversation does not exist." },
  },
  {
    method: "POST",
    path: "/api/conversations/:id/remove",
    summary: "Delete a conversation with its messages.",
    access: "chat",
    errors: { 404: "The conversation does not exist.", 409: "The conversation has a current run." },
  },
  {
    method: "POST",
    path: "/api/conversations/:id/speech",
    summary: "Speak an answer of a conversation. The client pays for it.",
    access: "chat",
    body: SpeechRequest,
    response: SpokenMessage,
    errors: {
      404: "The conversation has no such answer.",
      409: "Answers cannot be spoken: no service is configured, a budget is used up, or the service failed.",
    },
  },
  {
    method: "PUT",
    path: "/api/uploads/:id",
    summary: "Upload a piece of a file, at most 500 kB.",
    access: "chat",
    query: z.object({
      at: z.coerce.number().check(z.describe("Offset of the piece in the file, in bytes.")),
    }),
    body: "bytes",
    response: UploadState,
    errors: {
      409: "`at` is not the number of received bytes.",
      507: "The upload quota of the client is used up.",
    },
  },
];
