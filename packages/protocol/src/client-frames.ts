import * as z from "zod/mini";
import { parseJson } from "./json.ts";
import { EventCursor, messageFields, Name } from "./sent-message.ts";

/**
 * Subscribes this connection to a conversation. The gateway replies with `subscribed`. The conversation need not exist:
 * clients create conversation ids, and the first `send` creates the conversation.
 */
export const SubscribeFrame = z.object({
  type: z.literal("subscribe"),
  conversation: Name,
  /** Default: the agent with which the conversation was last used on this connection, otherwise the default agent. */
  agent: z.optional(Name),
  /**
   * Cursor of the last frame that the client has received. The gateway continues after it if it still has the events.
   */
  after: z.optional(EventCursor),
});
export type SubscribeFrame = z.infer<typeof SubscribeFrame>;

/** Ends a subscription. There is no reply. */
export const UnsubscribeFrame = z.object({ type: z.literal("unsubscribe"), conversation: Name });
export type UnsubscribeFrame = z.infer<typeof UnsubscribeFrame>;

/**
 * Sends a message to an agent. The gateway replies with `accepted` once the message is durable, or with an `error` with
 * the same `id`. `id` is an idempotency key: after a reconnect, a client resends every message that was not accepted.
 */
export const SendFrame = z
  .object({ type: z.literal("send"), conversation: Name, ...messageFields })
  .check(z.refine(({ text, attachments = [] }) => text !== "" || attachments.length > 0, { path: ["text"] }));
export type SendFrame = z.infer<typeof SendFrame>;

/** Stops the current run of a conversation, if any. The outcome in its `run.end` is `aborted`. */
export const AbortFrame = z.object({ type: z.literal("abort"), conversation: Name });
export type AbortFrame = z.infer<typeof AbortFrame>;

/**
 * Subscribes an owner's connection to the activity of the whole gateway. The gateway sends an `activity` frame
 * immediately and after each change. For members, the reply is an `error` with the code `forbidden`.
 */
export const WatchFrame = z.object({ type: z.literal("watch") });
export type WatchFrame = z.infer<typeof WatchFrame>;

/** Ends the subscription of a {@link WatchFrame}. */
export const UnwatchFrame = z.object({ type: z.literal("unwatch") });
export type UnwatchFrame = z.infer<typeof UnwatchFrame>;

/** The gateway replies with `pong`. */
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

/** Result of {@link parseClientFrame}. An error contains the `id` of the `send`, so that the reply can refer to it. */
export type ParsedClientFrame =
  | { ok: true; frame: ClientFrame }
  | { ok: false; message: string; id?: string; conversation?: string };

const Addressed = z.object({
  id: z.catch(z.optional(z.string()), undefined),
  conversation: z.catch(z.optional(z.string()), undefined),
});

/**
 * Parses a frame from a client. Never throws.
 *
 * @returns the frame, or a message for an `error` frame
 */
export function parseClientFrame(data: string): ParsedClientFrame {
  const json = parseJson(data);
  const parsed = ClientFrame.safeParse(json);
  if (parsed.success) return { ok: true, frame: parsed.data };
  const addressed = Addressed.safeParse(json);
  if (!addressed.success) return { ok: false, message: "A frame must be a JSON object." };
  const { id, conversation } = addressed.data;
  const field = String(parsed.error.issues[0]?.path[0] ?? "type");
  const problem = field === "type" ? "an unknown or missing type" : `a missing or invalid "${field}"`;
  return { ok: false, message: `The frame has ${problem}.`, id, conversation };
}
