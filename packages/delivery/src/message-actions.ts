import {
  type Capabilities,
  createOutbound,
  createPollOutbound,
  isChannelError,
  isPayload,
  type MediaPart,
  type MessageAction,
  type MessageOutcome,
  type Outbound,
  type OutboundPart,
  type PollPart,
  reasonOf,
  textAt,
} from "@signalbox/channel";
import type { LeaseToken, ToldEntry } from "@signalbox/store/types";
import {
  type CurrentConversation,
  findPlace,
  type MessagePlace,
  type MessagePlaceOptions,
  NOT_RUNNING,
} from "./message-place.ts";
import type { Destination, OutboxRow, OutboxStore } from "./outbox.ts";
import { createOutboxKey, createOutboxRow, getDestinationKey, getPendingRows, REPLY_TTL_MS } from "./rows.ts";

/** A run that acts in a conversation. A host adds fields that its own functions need. */
export interface ActingRun {
  readonly event: CurrentConversation;
  readonly sessionKey: string;
  readonly runId: string;
  /** Called with each text that was sent to the current conversation, and its attachments. */
  readonly onSent: (text: string, media: readonly string[]) => void;
}

/** The tool call that requests an action. */
export interface ActingCall {
  /** The same if the call is repeated. */
  readonly callId: string;
  readonly signal: AbortSignal;
}

export interface MessageActionsOptions<Run extends ActingRun> extends MessagePlaceOptions {
  readonly outbox: Pick<OutboxStore, "enqueue" | "withKey" | "ofMessage">;
  readonly lease: LeaseToken;
  /** Sends rows that were just committed. */
  readonly deliver: (rows: readonly OutboxRow[]) => void;
  /**
   * Prepares attachments.
   *
   * @returns the parts, and a line for each attachment that cannot be sent; `undefined` if `signal` was aborted
   */
  readonly prepare: (
    media: readonly string[],
    run: Run,
    capabilities: Capabilities,
    signal: AbortSignal,
  ) => Promise<{ readonly parts: readonly MediaPart[]; readonly lines: readonly string[] } | undefined>;
  /** Returns a text for the model if the platform would reject a message in a conversation. Default: it accepts all. */
  readonly findRefusal?: (to: Destination) => Promise<string | undefined>;
  /** Returns true if a message arrived in this conversation. The id alone does not identify the conversation. */
  readonly isOfConversation: (messageId: string, to: Destination, run: Run) => Promise<boolean>;
  /** Creates the history entry of another conversation for a message that was sent there. */
  readonly createHistoryEntry: (
    to: Destination,
    message: { readonly id: string; readonly text: string },
    run: Run,
  ) => ToldEntry;
  /** Updates that entry after an edit, or removes it after a deletion (`text` is absent). */
  readonly updateHistoryEntry: (
    to: Destination,
    message: { readonly id: string; readonly text: string | undefined },
    run: Run,
  ) => Promise<void>;
  /** Shows a text to a client that reads the session directly. */
  readonly show: (text: string, run: Run, callId: string) => void;
  /** Removes secrets from a channel's error message before the model reads it. */
  readonly redact: (text: string) => string;
  /** Returns the current time in milliseconds since the epoch. */
  readonly now: () => number;
}

/** Executes an agent's action. Never rejects: a failure is part of the outcome. */
export type ActOnMessages<Run extends ActingRun> = (
  action: MessageAction,
  run: Run,
  call: ActingCall,
) => Promise<MessageOutcome>;

/** Prefix of the keys of messages that agents send. An agent can address only rows with this prefix. */
const KEY_PREFIX = "sent-";
const KEY_LENGTH = 20;

/**
 * Creates the function for an agent's `message` tool. Texts and polls go through the outbox and wait there until the
 * account is running. All other actions take effect immediately or fail.
 */
export function createMessageActions<Run extends ActingRun>(
  options: MessageActionsOptions<Run>,
): ActOnMessages<Run> {
  return async (action, run, call) => {
    try {
      // A repeated call returns its first outcome, even if one of its files no longer exists.
      const before = isSending(action) ? await findSent(options, action, run, call) : undefined;
      if (before !== undefined) return before;
      const place = await findPlace(options, action, run.event, call.signal);
      if (typeof place === "string") return fail(place);
      const { sendMedia, awaitsSingleAnswer, readsSession } = place.definition.capabilities;
      if (action.action === "send" && action.media.length > 0 && sendMedia === undefined)
        return fail("Attachments cannot be sent here. Say where the file is instead.");
      if (awaitsSingleAnswer === true) return fail("This client reads only your reply. Say it there.");
      if (readsSession === true) return show(options, action, run, place, call);
      return isSending(action)
        ? await send(options, action, run, place, call)
        : await change(options, action, run, place, call);
    } catch (error) {
      return fail(options.redact(reasonOf(error)));
    }
  };
}

type SendingAction = Extract<MessageAction, { action: "send" | "poll" }>;

function isSending(action: MessageAction): action is SendingAction {
  return action.action === "send" || action.action === "poll";
}

async function findSent<Run extends ActingRun>(
  options: MessageActionsOptions<Run>,
  action: SendingAction,
  run: Run,
  call: ActingCall,
): Promise<MessageOutcome | undefined> {
  const row = await options.outbox.withKey(createKey(run, call));
  return row && handOver(options, action, run, row);
}

/** Derived from the call, so that a call that is repeated after a crash sends the same message. */
function createKey({ runId }: ActingRun, { callId }: ActingCall): string {
  return `${KEY_PREFIX}${createOutboxKey(runId, callId)}`.slice(0, KEY_LENGTH);
}

function show<Run extends ActingRun>(
  options: MessageActionsOptions<Run>,
  action: MessageAction,
  run: Run,
  { definition }: MessagePlace,
  { callId }: ActingCall,
): MessageOutcome {
  if (!isSending(action)) return fail("This client shows text only.");
  const text = action.action === "send" ? action.text : toPollText(action, definition.capabilities);
  options.show(text, run, callId);
  run.onSent(text, []);
  return { ok: true, text: "The message was shown." };
}

async function send<Run extends ActingRun>(
  options: MessageActionsOptions<Run>,
  action: SendingAction,
  run: Run,
  place: MessagePlace,
  call: ActingCall,
): Promise<MessageOutcome> {
  const { outbox, lease, now } = options;
  const refusal = await options.findRefusal?.(place.to);
  if (refusal !== undefined) return fail(refusal);
  const payload = await createPayload(options, action, run, place, call);
  if ("ok" in payload) return payload;
  const row = createOutboxRow(place.to, payload, { expiresAt: now() + REPLY_TTL_MS, claim: false });
  const { sessionKey } = run;
  const key = createKey(run, call);
  const told = place.isCurrent
    ? undefined
    : options.createHistoryEntry(place.to, { id: key, text: describe(action) }, run);
  const [added] = await outbox.enqueue([{ ...row, key, told }], { lease, sessionKey });
  if (added === undefined) throw new Error("The outbox returned no row.");
  return handOver(options, action, run, added);
}

/** Returns the message to send, or the outcome if it cannot be sent. */
async function createPayload<Run extends ActingRun>(
  options: MessageActionsOptions<Run>,
  action: SendingAction,
  run: Run,
  { to, definition: { capabilities } }: MessagePlace,
  { signal }: ActingCall,
): Promise<Outbound | MessageOutcome> {
  if (action.action === "poll") return createPollOutbound(toPollPart(action), capabilities);
  const { text, media, replyTo } = action;
  // Platforms put a reply into the conversation of the quoted message, regardless of the address.
  const quoted =
    replyTo === undefined
      ? undefined
      : await findMessage(options, { action: "reply", messageId: replyTo }, to, run);
  if (quoted !== undefined && "ok" in quoted) return quoted;
  const prepared = await options.prepare(media, run, capabilities, signal);
  if (prepared === undefined) return fail("Nothing was sent: this run was stopped.");
  const { parts, lines } = prepared;
  if (lines.length > 0) return fail(`Nothing was sent. ${lines.join(" ")}`);
  return createOutbound(text, quoted?.id, capabilities, parts);
}

/** Passes a row to the delivery. Can be repeated. */
function handOver<Run extends ActingRun>(
  { deliver }: MessageActionsOptions<Run>,
  action: SendingAction,
  run: Run,
  row: OutboxRow,
): MessageOutcome {
  deliver(getPendingRows([row]));
  const isCurrent = getDestinationKey(row) === getDestinationKey(run.event);
  if (isCurrent && action.action === "send") run.onSent(action.text, action.media);
  return { ok: true, text: `The message is on its way. Its id is ${row.key}.` };
}

function describe(action: SendingAction): string {
  return action.action === "send" ? action.text : `[Poll] ${action.question}: ${action.options.join(" / ")}`;
}

/** Executes an action on an existing message. */
async function change<Run extends ActingRun>(
  options: MessageActionsOptions<Run>,
  action: Exclude<MessageAction, SendingAction>,
  run: Run,
  { to, definition, running }: MessagePlace,
  { signal }: ActingCall,
): Promise<MessageOutcome> {
  if (running === undefined) return fail(NOT_RUNNING);
  const message = await findMessage(options, action, to, run);
  if ("ok" in message) return message;
  const { id, rest } = message;
  const address = definition.codec.decode(to.address);
  const remove = async (part: string): Promise<void> => running.remove?.(address, part, signal);
  switch (action.action) {
    case "react":
      if (!running.react) return fail("This channel has no reactions.");
      await running.react(address, id, { emoji: action.emoji, on: true }, signal);
      return { ok: true, text: "Reacted." };
    case "close_poll": {
      if (!running.closePoll) return fail("This channel has no native polls: people answer with a message.");
      const { options: votes } = await running.closePoll(address, id, signal);
      return { ok: true, text: `Closed. ${votes.map((each) => `${each.text}: ${each.votes}`).join(", ")}` };
    }
    case "edit": {
      if (!running.edit) return fail("This channel cannot edit messages.");
      const edited: Outbound = createOutbound(action.text, undefined, definition.capabilities);
      await running.edit(address, id, edited, signal);
      // The first part now contains the entire text, so remove the other text parts.
      await removeParts(
        rest.filter(({ type }) => type !== "media"),
        remove,
      );
      await options.updateHistoryEntry(to, { id: action.messageId, text: action.text }, run);
      return { ok: true, text: "Edited." };
    }
    case "delete":
      if (!running.remove) return fail("This channel cannot delete messages.");
      // Remove the first part last, so that the deletion can be repeated if another one fails.
      await removeParts(rest, remove);
      await remove(id);
      await options.updateHistoryEntry(to, { id: action.messageId, text: undefined }, run);
      return { ok: true, text: "Deleted." };
  }
}

/** Removes parts of a message. Parts that are gone already are skipped. */
async function removeParts(
  parts: FoundMessage["rest"],
  remove: (id: string) => Promise<void>,
): Promise<void> {
  for (const { id } of parts)
    await remove(id).catch((error: unknown) => {
      if (!isChannelError(error) || error.code !== "not_found") throw error;
    });
}

/** An agent's reference to an existing message. */
interface MessageUse {
  readonly action: "reply" | Exclude<MessageAction, SendingAction>["action"];
  readonly messageId: string;
}

/** A message on its platform: the id of its first part, and its other parts. */
interface FoundMessage {
  readonly id: string;
  readonly rest: readonly { readonly id: string; readonly type: OutboundPart["type"] | undefined }[];
}

/** Finds a message of a conversation by the platform's id, or by the id that `send` returned. */
async function findMessage<Run extends ActingRun>(
  options: MessageActionsOptions<Run>,
  use: MessageUse,
  to: Destination,
  run: Run,
): Promise<FoundMessage | MessageOutcome> {
  const { messageId } = use;
  const missing = fail(`There is no message ${messageId} in that conversation.`);
  if (!messageId.startsWith(KEY_PREFIX))
    return (await mayUse(options, use, to, run)) ? { id: messageId, rest: [] } : missing;
  const row = await options.outbox.withKey(messageId);
  if (row === undefined || getDestinationKey(row) !== getDestinationKey(to)) return missing;
  if (row.state === "pending" || row.state === "sending")
    return fail(`${messageId} was not sent yet. Try again later.`);
  const [first, ...rest] = row.receipts.flatMap(({ part, receipt }) => {
    const id = isPayload(receipt) ? textAt(receipt, "messageId") : undefined;
    return id === undefined ? [] : [{ id, type: row.payload.parts[part]?.type }];
  });
  if (first === undefined) return fail(`It is not known whether ${messageId} was sent.`);
  return { id: first.id, rest: rest.filter(({ id }) => id !== first.id) };
}

/**
 * Returns true if an agent may use a message. People can quote any message in a conversation, including the gateway's
 * own. An agent may edit or delete only messages from agents. Otherwise, a person could quote an approval question to
 * have it rewritten.
 */
async function mayUse<Run extends ActingRun>(
  { outbox, isOfConversation }: MessageActionsOptions<Run>,
  { action, messageId }: MessageUse,
  to: Destination,
  run: Run,
): Promise<boolean> {
  if (await isOfConversation(messageId, to, run)) return true;
  if (!isQuoted(messageId, to, run)) return false;
  if (action === "react" || action === "reply") return true;
  const row = await outbox.ofMessage({ channel: to.channel, account: to.account, messageId });
  return row !== undefined && (row.runId !== undefined || row.key.startsWith(KEY_PREFIX));
}

/** Returns true if the answered message quotes this one. */
function isQuoted(messageId: string, to: Destination, { event }: ActingRun): boolean {
  const { references = [] } = event;
  const isReferred = references.some(
    (reference) => reference.kind !== "forward" && reference.messageId === messageId,
  );
  return getDestinationKey(to) === getDestinationKey(event) && isReferred;
}

type PollAction = Extract<MessageAction, { action: "poll" }>;

function toPollPart({ question, options, multiple = false }: PollAction): PollPart {
  return { type: "poll", question, options, multiple };
}

function toPollText(poll: PollAction, capabilities: Capabilities): string {
  const { parts } = createPollOutbound(toPollPart(poll), capabilities);
  return parts.flatMap((part) => ("text" in part ? [part.text] : [])).join("\n");
}

function fail(message: string): MessageOutcome {
  return { ok: false, message };
}
