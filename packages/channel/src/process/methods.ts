import { z } from "zod";
import {
  accountCheck,
  emitResult,
  health,
  historyMessage,
  identity,
  inboundEvent,
  json,
  mediaPart,
  mediaRef,
  outbound,
  outboundPart,
  partReceipt,
  pollResult,
  receipt,
  reconciled,
} from "./schemas.ts";

/** One method, with what it takes and gives. */
export interface Method<Params, Result> {
  readonly name: string;
  readonly params: z.ZodType<Params>;
  readonly result: z.ZodType<Result>;
}

function method<Params, Result>(
  name: string,
  params: z.ZodType<Params>,
  result: z.ZodType<Result>,
): Method<Params, Result> {
  return { name, params, result };
}

const nothing = z.undefined();
const text = z.string();
const number = z.int();
const bytes = z.base64();
/** An address, as the channel's codec writes it. */
const to = text;
const media = { mimeType: text, size: z.number().exactOptional(), name: text.exactOptional() };
/** Where the process tells of parts and asks for attachments, if the host has any to give. */
const callbacks = z.object({ id: number, opensMedia: z.boolean() });
const sending = { idempotencyKey: text, startAt: number.exactOptional(), callbacks };
const draftState = z.object({ messageId: text.exactOptional() });

/** Bytes are read one piece at a time, on demand. No `data` means the end. */
export const streamMethods = {
  read: method("read", z.object({ stream: number }), z.object({ data: bytes.exactOptional() })),
  cancel: method("cancel", z.object({ stream: number }), nothing),
};

/** What the host asks of the process. */
export const accountMethods = {
  /** First of all. Gives the names of the methods that the channel has. */
  create: method(
    "create",
    z.object({
      /** The file that the definition is exported by, as a URL. */
      module: text,
      /** Its id. */
      channel: text,
      account: text,
      config: json,
      commands: z.array(
        z.object({
          name: text,
          description: text,
          localized: z.record(text, text).exactOptional(),
          usage: text.exactOptional(),
        }),
      ),
      raw: z.boolean(),
    }),
    z.object({ methods: z.array(text) }),
  ),
  start: method("start", z.object({}), nothing),
  stop: method("stop", z.object({ drainMs: z.number() }), nothing),
  webhook: method(
    "webhook",
    z.object({ method: text, url: text, headers: z.array(z.tuple([text, text])), body: bytes }),
    z.object({ status: number, headers: z.array(z.tuple([text, text])), body: bytes }),
  ),
  send: method("send", z.object({ to, message: outbound, ...sending }), receipt),
  edit: method("edit", z.object({ to, messageId: text, message: outbound }), nothing),
  remove: method("remove", z.object({ to, messageId: text }), nothing),
  closePoll: method("closePoll", z.object({ to, messageId: text }), pollResult),
  react: method("react", z.object({ to, messageId: text, emoji: text, on: z.boolean() }), nothing),
  typing: method("typing", z.object({ to, on: z.boolean(), messageId: text.exactOptional() }), nothing),
  openDirect: method("openDirect", z.object({ userId: text }), z.object({ to })),
  history: method(
    "history",
    z.object({ to, limit: number, before: z.number().exactOptional() }),
    z.array(historyMessage),
  ),
  resolve: method("resolve", z.object({ userId: text }), z.object({ name: text.exactOptional() })),
  checks: method("checks", z.object({}), z.array(accountCheck)),
  fetchMedia: method("fetchMedia", z.object({ media: mediaRef }), z.object({ stream: number, ...media })),
  reconcile: method(
    "reconcile",
    z.object({
      to,
      idempotencyKey: text,
      part: number,
      content: outboundPart,
      replyTo: text.exactOptional(),
      attemptedAt: z.number(),
    }),
    reconciled,
  ),
  openDraft: method(
    "openDraft",
    z.object({ to, idempotencyKey: text, replyTo: text.exactOptional(), messageId: text.exactOptional() }),
    z.object({ draft: number }),
  ),
  updateDraft: method("updateDraft", z.object({ draft: number, snapshot: text }), draftState),
  finalizeDraft: method(
    "finalizeDraft",
    z.object({ draft: number, message: outbound, idempotencyKey: text.exactOptional(), callbacks }),
    receipt,
  ),
  prolongDraft: method("prolongDraft", z.object({ draft: number }), nothing),
  abortDraft: method("abortDraft", z.object({ draft: number }), nothing),
  /** The signal of a draft has fired: nobody asks anything of it any more. */
  haltDraft: method("haltDraft", z.object({ draft: number }), nothing),
  ...streamMethods,
};

/** What the process asks of its host. */
export const hostMethods = {
  emit: method("emit", z.object({ event: inboundEvent }), emitResult),
  log: method(
    "log",
    z.object({
      level: z.enum(["debug", "info", "warn", "error"]),
      message: text,
      fields: z.record(text, json).exactOptional(),
    }),
    nothing,
  ),
  /** How the account is, and who; told before the answer to whatever changed it. */
  status: method("status", z.object({ health, self: identity.exactOptional() }), nothing),
  cacheGet: method("cacheGet", z.object({ key: text }), z.object({ value: json.exactOptional() })),
  cacheSet: method("cacheSet", z.object({ key: text, value: json, ttlMs: z.number() }), nothing),
  stateGet: method("stateGet", z.object({ key: text }), z.object({ value: json.exactOptional() })),
  stateSet: method("stateSet", z.object({ key: text, value: json }), nothing),
  stateDelete: method("stateDelete", z.object({ key: text }), nothing),
  /** A part is out; the next one waits for the answer. */
  part: method("part", z.object({ sending: number, part: partReceipt }), nothing),
  openMedia: method(
    "openMedia",
    z.object({ sending: number, part: mediaPart }),
    z.object({ stream: number }),
  ),
  ...streamMethods,
};
