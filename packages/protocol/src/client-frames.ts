import * as z from "zod/mini";
import { parseJson } from "./json.ts";
import { EventCursor, messageFields, Name } from "./sent-message.ts";

/**
 * Shows this connection what happens in a conversation; answered with `subscribed`. A conversation that does
 * not exist yet may be subscribed to: its id is made by the client, and the first `send` creates it.
 */
export const SubscribeFrame = z.object({
  type: z.literal("subscribe"),
  conversation: Name,
  /** Default: the agent last used with it on this connection, else the gateway's default agent. */
  agent: z.exactOptional(Name),
  /** Of the last frame that was seen of it: what came after that follows, where the gateway still has it. */
  after: z.exactOptional(EventCursor),
});
export type SubscribeFrame = z.infer<typeof SubscribeFrame>;

/** Ends a subscription; nothing is answered. */
export const UnsubscribeFrame = z.object({ type: z.literal("unsubscribe"), conversation: Name });
export type UnsubscribeFrame = z.infer<typeof UnsubscribeFrame>;

/**
 * A message to an agent. Answered with `accepted` once it is durable, or with an `error` of the same `id`.
 * Sending the same `id` again is harmless, so a client repeats what was not accepted after a reconnect.
 */
export const SendFrame = z
  .object({ type: z.literal("send"), conversation: Name, ...messageFields })
  .check(z.refine(({ text, attachments = [] }) => text !== "" || attachments.length > 0, { path: ["text"] }));
export type SendFrame = z.infer<typeof SendFrame>;

/** Stops the run of a conversation, if there is one; its `run.end` says `aborted`. */
export const AbortFrame = z.object({ type: z.literal("abort"), conversation: Name });
export type AbortFrame = z.infer<typeof AbortFrame>;

/**
 * Shows this connection the activity of the whole gateway, with an `activity` at once and at each change, until
 * `unwatch`. For owners; otherwise refused with an `error` of code `forbidden`.
 */
export const WatchFrame = z.object({ type: z.literal("watch") });
export type WatchFrame = z.infer<typeof WatchFrame>;

export const UnwatchFrame = z.object({ type: z.literal("unwatch") });
export type UnwatchFrame = z.infer<typeof UnwatchFrame>;

/** Answered with `pong`. */
export const PingFrame = z.object({ type: z.literal("ping") });
export type PingFrame = z.infer<typeof PingFrame>;

export const ClientFrame = z.discriminatedUnion("type", [
  SubscribeFrame,
  UnsubscribeFrame,
  SendFrame,
  AbortFrame,
  WatchFrame,
  UnwatchFrame,
  PingFrame,
]);
export type ClientFrame = z.infer<typeof ClientFrame>;

/** Result of reading a client's frame; `id` is that of the `send`, so that a refusal can name it. */
export type ParsedClientFrame =
  | { ok: true; frame: ClientFrame }
  | { ok: false; message: string; id?: string; conversation?: string };

const Addressed = z.object({
  id: z.catch(z.optional(z.string()), undefined),
  conversation: z.catch(z.optional(z.string()), undefined),
});

/** Reads a frame that a client sent. Never throws; says what is wrong in words fit for an `error` frame. */
export function parseClientFrame(data: string): ParsedClientFrame {
  const json = parseJson(data);
  const parsed = ClientFrame.safeParse(json);
  if (parsed.success) return { ok: true, frame: parsed.data };
  const addressed = Addressed.safeParse(json);
  if (!addressed.success) return { ok: false, message: "A frame is one JSON object." };
  const { id, conversation } = addressed.data;
  const field = String(parsed.error.issues[0]?.path[0] ?? "type");
  const wrong = field === "type" ? "an unknown or missing type" : `a missing or wrong "${field}"`;
  return {
    ok: false,
    message: `The frame has ${wrong}.`,
    ...(id !== undefined && { id }),
    ...(conversation !== undefined && { conversation }),
  };
}
