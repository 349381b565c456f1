import {
  type ChannelContext,
  type InboundEvent,
  type Json,
  type MessageEvent,
  objectAt,
  type Payload,
  type Reference,
  referenceKinds,
  textAt,
} from "../src/index.ts";
import type { EchoMessage } from "./echo-server.ts";

type Reader = Pick<ChannelContext, "account" | "clock">;

/** Reads a message, a click or a command of the platform. */
export function readEvent(payload: Payload, context: Reader): InboundEvent {
  const base = createBase(payload, context);
  const command = textAt(payload, "command");
  if (command !== undefined)
    return { ...base, type: "command", name: command, args: textAt(payload, "args") ?? "" };
  const clicked = textAt(payload, "clicked");
  if (clicked === undefined) return { ...base, ...readBody(payload) };
  return {
    ...base,
    ...readButton(clicked),
    type: "action",
    messageId: textAt(payload, "message") ?? "",
    text: textAt(payload, "text"),
  };
}

/** Reads a message from the platform's history. */
export function readMissed({ id, by, text, at }: EchoMessage, context: Reader): MessageEvent {
  const payload = { id: `missed ${id}`, message: id, text, from: { id: by } };
  return { ...createBase(payload, context), ...readBody(payload), timestamp: at };
}

function createBase(payload: Payload, { account, clock }: Reader) {
  const id = textAt(objectAt(payload, "from"), "id") ?? "";
  const kind = id === "person" ? "direct" : "group";
  return {
    channel: "echo",
    account,
    eventId: textAt(payload, "id") ?? "",
    conversation: { id: kind, kind },
    address: `echo:${kind}`,
    sender: { id, isBot: id !== "person", isSelf: id === "self" },
    addressed: kind === "direct" ? "dm" : "none",
    timestamp: clock.now(),
  } as const;
}

function readBody(payload: Payload) {
  const about = readReference(objectAt(payload, "about"));
  return {
    type: "message",
    messageId: textAt(payload, "message") ?? "",
    text: textAt(payload, "text") ?? "",
    media: [],
    mentions: [],
    ...(about === undefined ? {} : { references: [about] }),
  } as const;
}

function readReference(about: Payload): Reference | undefined {
  const kind = referenceKinds.find((one) => one === about["kind"]);
  if (kind === undefined) return undefined;
  return {
    kind,
    messageId: textAt(about, "message"),
    sender: { id: textAt(about, "by") },
    text: textAt(about, "text"),
    media: [{ kind: "file", mimeType: "text/plain", ref: { address: textAt(about, "file") ?? "" } }],
  };
}

function readButton(data: string): { readonly actionId: string; readonly value?: Json } {
  const { id: actionId, value }: { id: string; value?: Json } = JSON.parse(data);
  return value === undefined ? { actionId } : { actionId, value };
}
