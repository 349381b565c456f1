import { z } from "zod";
import { mediaKinds, outboundMediaKinds } from "../contract/capabilities.ts";
import type { AccountCheck, Health, HistoryMessage, Identity } from "../contract/definition.ts";
import {
  conversationKinds,
  type EmitResult,
  type InboundEvent,
  type MediaRef,
  waysOfAddressing,
} from "../contract/events.ts";
import type { Json } from "../contract/json.ts";
import type {
  MediaPart,
  Outbound,
  OutboundPart,
  PartReceipt,
  PollResult,
  Receipt,
  Reconciled,
} from "../contract/messages.ts";

/** The values of the contract, as schemas: another process may say anything. */
export const json: z.ZodType<Json> = z.json();
const text = z.string();
const milliseconds = z.number();

const conversation = z.object({
  id: text,
  kind: z.enum(conversationKinds),
  threadId: text.exactOptional(),
  beginsThread: z.boolean().exactOptional(),
  parentId: text.exactOptional(),
  guildId: text.exactOptional(),
  teamId: text.exactOptional(),
  subject: text.exactOptional(),
});

const sender = z.object({
  id: text,
  name: text.exactOptional(),
  isBot: z.boolean(),
  isSelf: z.boolean(),
  roles: z.array(text).exactOptional(),
});

export const mediaRef: z.ZodType<MediaRef> = z.object({
  kind: z.enum(mediaKinds),
  mimeType: text,
  name: text.exactOptional(),
  size: z.number().exactOptional(),
  ref: json,
});

const base = {
  eventId: text,
  channel: text,
  account: text,
  botId: text.exactOptional(),
  conversation,
  address: text,
  sender,
  addressed: z.enum(waysOfAddressing),
  timestamp: milliseconds,
  raw: json.exactOptional(),
};

const member = { id: text, name: text.exactOptional(), isSelf: z.boolean() };

const body = {
  messageId: text,
  text,
  media: z.array(mediaRef),
  replyTo: z
    .object({ messageId: text, text: text.exactOptional(), senderId: text.exactOptional() })
    .exactOptional(),
  forwarded: z.object({ from: text.exactOptional() }).exactOptional(),
  mentions: z.array(z.object(member)),
};

/** What a client wants of its turn is heeded of the gateway's own channels alone, so no process says it. */
export const inboundEvent: z.ZodType<InboundEvent> = z.discriminatedUnion("type", [
  z.object({ type: z.literal("message"), ...base, ...body }),
  z.object({ type: z.literal("edited"), ...base, ...body }),
  z.object({ type: z.literal("deleted"), ...base, messageId: text }),
  z.object({ type: z.literal("reaction"), ...base, messageId: text, emoji: text, added: z.boolean() }),
  z.object({
    type: z.literal("action"),
    ...base,
    messageId: text.exactOptional(),
    actionId: text,
    value: json.exactOptional(),
    text: text.exactOptional(),
  }),
  z.object({ type: z.literal("command"), ...base, name: text, args: text }),
  z.object({
    type: z.literal("member"),
    ...base,
    change: z.enum(["joined", "left"]),
    member: z.object(member),
  }),
  z.object({
    type: z.literal("lifecycle"),
    ...base,
    what: z.enum(["installed", "removed", "renamed", "gap"]),
    detail: json.exactOptional(),
  }),
]);

export const emitResult: z.ZodType<EmitResult> = z.enum(["accepted", "duplicate", "rejected"]);

export const mediaPart: z.ZodType<MediaPart> = z.object({
  type: z.literal("media"),
  kind: z.enum(outboundMediaKinds),
  name: text,
  mimeType: text,
  size: z.number(),
  ref: json,
  voice: z.boolean().exactOptional(),
});

export const outboundPart: z.ZodType<OutboundPart> = z.union([
  z.object({ type: z.literal("text"), text }),
  z.object({ type: z.literal("markdown"), text }),
  z.object({
    type: z.literal("buttons"),
    text,
    buttons: z.array(
      z.object({
        id: text,
        label: text,
        style: z.enum(["default", "primary", "danger"]).exactOptional(),
        value: json.exactOptional(),
        opensForm: z.boolean().exactOptional(),
      }),
    ),
  }),
  mediaPart,
  z.object({
    type: z.literal("poll"),
    question: text,
    options: z.array(text),
    multiple: z.boolean().exactOptional(),
  }),
]);

export const outbound: z.ZodType<Outbound> = z.object({
  parts: z.array(outboundPart),
  replyTo: text.exactOptional(),
});

export const partReceipt: z.ZodType<PartReceipt> = z.object({ index: z.int().min(0), messageId: text });

export const pollResult: z.ZodType<PollResult> = z.object({
  options: z.array(z.object({ text: z.string(), votes: z.int() })),
});
export const receipt: z.ZodType<Receipt> = z.object({ parts: z.array(partReceipt) });

export const reconciled: z.ZodType<Reconciled> = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.literal("sent"), messageId: text }),
  z.object({ outcome: z.literal("not-sent") }),
  z.object({ outcome: z.literal("unknown") }),
]);

export const historyMessage: z.ZodType<HistoryMessage> = z.object({
  messageId: text,
  sender,
  text,
  timestamp: milliseconds,
});

const trouble = { reason: text, retryAt: milliseconds.exactOptional() };

export const health: z.ZodType<Health> = z.discriminatedUnion("state", [
  z.object({ state: z.literal("starting") }),
  z.object({ state: z.literal("ready") }),
  z.object({ state: z.literal("degraded"), ...trouble }),
  z.object({ state: z.literal("down"), ...trouble }),
  z.object({ state: z.literal("stopped") }),
]);

export const accountCheck: z.ZodType<AccountCheck> = z.object({
  about: text,
  ok: z.boolean(),
  detail: text,
  remedy: text.exactOptional(),
});

export const identity: z.ZodType<Identity> = z.object({ id: text, name: text.exactOptional() });
