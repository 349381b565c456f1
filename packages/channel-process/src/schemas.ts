import {
  type AccountCheck,
  addressedKinds,
  type ChannelLogger,
  channelErrorCodes,
  conversationKinds,
  dropUndefined,
  type FetchedMedia,
  type Health,
  type HistoryMessage,
  type Identity,
  type InboundEvent,
  type Json,
  mediaKinds,
  type PartReceipt,
  type PollResult,
  type Receipt,
  type ReconcileResult,
  referenceKinds,
} from "@signalbox/channel";
import { z } from "zod";

/** Schemas for all data that the gateway accepts from an account's process, which is untrusted. */
const text = z.string();
const optionalText = text.optional();

export const json: z.ZodType<Json> = z.preprocess(dropUndefined, z.json());

const conversation = z.object({
  id: text,
  kind: z.enum(conversationKinds),
  threadId: optionalText,
  beginsThread: z.boolean().optional(),
  otherIds: z.array(text).optional(),
  outerAddress: optionalText,
  parentId: optionalText,
  guildId: optionalText,
  teamId: optionalText,
  subject: optionalText,
});

const sender = z.object({
  id: text,
  name: optionalText,
  isBot: z.boolean(),
  isSelf: z.boolean(),
  roles: z.array(text).optional(),
});

const media = z.object({
  kind: z.enum(mediaKinds),
  mimeType: text,
  name: optionalText,
  size: z.number().optional(),
  ref: json,
});

const reference = z.object({
  kind: z.enum(referenceKinds),
  messageId: optionalText,
  sender: z
    .object({
      id: optionalText,
      name: optionalText,
      isBot: z.boolean().optional(),
      isSelf: z.boolean().optional(),
    })
    .optional(),
  timestamp: z.number().optional(),
  text: optionalText,
  media: z.array(media).optional(),
});

const base = {
  eventId: text,
  channel: text,
  account: text,
  botId: optionalText,
  conversation,
  address: text,
  sender,
  addressed: z.enum(addressedKinds),
  timestamp: z.number(),
  raw: json.optional(),
};

const person = z.object({ id: text, name: optionalText, isSelf: z.boolean() });

const body = {
  messageId: text,
  text,
  media: z.array(media),
  references: z.array(reference).optional(),
  forwarded: z.object({ from: optionalText }).optional(),
  mentions: z.array(person),
};

/** Without `turn`, which the gateway accepts only from its built-in channels. */
export const inboundEvent: z.ZodType<InboundEvent> = z.discriminatedUnion("type", [
  z.object({ type: z.literal("message"), ...base, ...body }),
  z.object({
    type: z.literal("edited"),
    ...base,
    ...body,
    sentAt: z.number().optional(),
    automatic: z.boolean().optional(),
  }),
  z.object({ type: z.literal("deleted"), ...base, messageId: text }),
  z.object({ type: z.literal("reaction"), ...base, messageId: text, emoji: text, added: z.boolean() }),
  z.object({
    type: z.literal("action"),
    ...base,
    messageId: optionalText,
    actionId: text,
    value: json.optional(),
    text: optionalText,
  }),
  z.object({ type: z.literal("command"), ...base, name: text, args: text }),
  z.object({ type: z.literal("member"), ...base, change: z.enum(["joined", "left"]), member: person }),
  z.object({
    type: z.literal("delivery"),
    ...base,
    messageId: text,
    state: z.literal("failed"),
    reason: text,
    code: z.enum(channelErrorCodes).optional(),
  }),
  z.object({
    type: z.literal("lifecycle"),
    ...base,
    what: z.enum(["installed", "removed", "renamed", "gap"]),
    detail: json.optional(),
  }),
]);

/** An entry for the gateway's log. */
export interface LogEntry {
  readonly level: keyof ChannelLogger;
  readonly message: string;
  readonly fields?: Readonly<Record<string, Json>> | undefined;
}
export const logEntry: z.ZodType<LogEntry> = z.object({
  level: z.enum(["debug", "info", "warn", "error"]),
  message: text,
  fields: z.record(text, json).optional(),
});

const trouble = { reason: text, retryAt: z.number().optional() };
const health: z.ZodType<Health> = z.discriminatedUnion("state", [
  z.object({ state: z.literal("starting") }),
  z.object({ state: z.literal("ready") }),
  z.object({ state: z.literal("degraded"), ...trouble }),
  z.object({ state: z.literal("down"), ...trouble }),
  z.object({ state: z.literal("stopped") }),
]);
export const identity: z.ZodType<Identity> = z.object({ id: text, name: optionalText });

/** Results of the channel's `health` and `self`. */
export interface Status {
  readonly health: Health;
  readonly self?: Identity | undefined;
}
export const status: z.ZodType<Status> = z.object({ health, self: identity.optional() });

export const partReceipt: z.ZodType<PartReceipt> = z.object({ index: z.int().min(0), messageId: text });
export const receipt: z.ZodType<Receipt> = z.object({ parts: z.array(partReceipt) });

export const pollResult: z.ZodType<PollResult> = z.object({
  options: z.array(z.object({ text, votes: z.int() })),
});

export const reconciled: z.ZodType<ReconcileResult> = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.literal("sent"), messageId: text }),
  z.object({ outcome: z.literal("not_sent") }),
  z.object({ outcome: z.literal("unknown") }),
]);

export const history: z.ZodType<readonly HistoryMessage[]> = z.array(
  z.object({ messageId: text, sender, text, timestamp: z.number() }),
);

export const accountChecks: z.ZodType<readonly AccountCheck[]> = z.array(
  z.object({ about: text, ok: z.boolean(), detail: text, remedy: optionalText }),
);

/** Fetched media. The bytes are read through a stream. */
export type RemoteMedia = Omit<FetchedMedia, "body"> & { readonly stream: number };
export const remoteMedia: z.ZodType<RemoteMedia> = z.object({
  stream: z.int(),
  mimeType: text,
  size: z.number().optional(),
  name: optionalText,
});

/** An HTTP response to a platform's request. */
export interface WebhookResponse {
  readonly status: number;
  readonly headers: [string, string][];
  readonly body: Uint8Array<ArrayBuffer>;
}
export const webhookResponse: z.ZodType<WebhookResponse> = z.object({
  status: z.int().min(200).max(599),
  headers: z.array(z.tuple([text, text])),
  body: z.instanceof(Uint8Array),
});
