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
import {
  type CurrentConversation,
  findPlace,
  type MessagePlace,
  type MessagePlaceOptions,
  NOT_RUNNING,
} from "./message-place.ts";
import type { Destination, LeaseToken, OutboxRow, OutboxStore, ToldThere } from "./outbox.ts";
import { destinationKey, outboxKey, outboxRow, pendingRows, REPLY_TTL_MS } from "./rows.ts";

/** A run that acts in a conversation. A host adds what its own functions need. */
export interface ActingRun {
  readonly event: CurrentConversation;
  readonly sessionKey: string;
  readonly runId: string;
  /** Told a text that was sent to this very conversation, and what went with it. */
  readonly onSent: (text: string, media: readonly string[]) => void;
}

/** The call of a tool that an action comes from. */
export interface ActingCall {
  /** The same where the same call is made again. */
  readonly callId: string;
  readonly signal: AbortSignal;
}

export interface MessageActionsOptions<Run extends ActingRun, Row extends OutboxRow = OutboxRow>
  extends MessagePlaceOptions {
  readonly outbox: Pick<OutboxStore<Row>, "enqueue" | "withKey" | "ofMessage">;
  readonly lease: LeaseToken;
  /** Sends rows that were just added. */
  readonly deliver: (rows: readonly Row[]) => void;
  /** Makes attachments ready, with a line for each that cannot be sent. Undefined where `signal` fired first. */
  readonly prepare: (
    media: readonly string[],
    run: Run,
    capabilities: Capabilities,
    signal: AbortSignal,
  ) => Promise<{ readonly parts: readonly MediaPart[]; readonly lines: readonly string[] } | undefined>;
  /** Whether a message came in through a conversation: platforms' ids do not say where they lead. */
  readonly isOfConversation: (messageId: string, to: Destination, run: Run) => Promise<boolean>;
  /** What the agent of another conversation is told of a message sent there. */
  readonly toldThere: (
    to: Destination,
    said: { readonly id: string; readonly text: string },
    run: Run,
  ) => ToldThere;
  /** Has what is told there say what the message says by now: nothing, where `text` is absent. */
  readonly changeThere: (
    to: Destination,
    said: { readonly id: string; readonly text: string | undefined },
    run: Run,
  ) => Promise<void>;
  /** Shows a text to a client that reads the session itself. */
  readonly show: (text: string, run: Run, callId: string) => void;
  /** Takes secrets out of what a channel says of a failure, which the model reads. */
  readonly redact: (text: string) => string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Carries out what an agent does in a conversation. Never rejects for what a platform refuses. */
export type ActOnMessages<Run extends ActingRun> = (
  action: MessageAction,
  run: Run,
  call: ActingCall,
) => Promise<MessageOutcome>;

/** How the keys of what models send begin. They call it by its key, and reach no other row by one. */
const SENT = "sent-";
/** The most characters that a key of a row has. */
const KEY_LENGTH = 20;

/**
 * Texts and polls go through the outbox as replies do, and wait there until the account runs; the rest is done at once
 * or not at all.
 */
export function createMessageActions<Run extends ActingRun, Row extends OutboxRow>(
  options: MessageActionsOptions<Run, Row>,
): ActOnMessages<Run> {
  return async (action, run, call) => {
    try {
      // Asked before anything that may be otherwise by now, such as a file that is gone.
      const before = isSending(action) ? await sentBefore(options, action, run, call) : undefined;
      if (before !== undefined) return before;
      const place = await findPlace(options, action, run.event, call.signal);
      if (typeof place === "string") return no(place);
      const { sendMedia, awaitsSingleAnswer, readsSession } = place.definition.capabilities;
      if (action.action === "send" && action.media.length > 0 && sendMedia === undefined)
        return no("Attachments cannot be sent here. Say where the file is instead.");
      if (awaitsSingleAnswer === true) return no("This client reads only your reply. Say it there.");
      if (readsSession === true) return show(options, action, run, place, call);
      return isSending(action)
        ? await send(options, action, run, place, call)
        : await change(options, action, run, place, call);
    } catch (error) {
      return no(options.redact(reasonOf(error)));
    }
  };
}

type SendingAction = Extract<MessageAction, { action: "send" | "poll" }>;

function isSending(action: MessageAction): action is SendingAction {
  return action.action === "send" || action.action === "poll";
}

async function sentBefore<Run extends ActingRun, Row extends OutboxRow>(
  options: MessageActionsOptions<Run, Row>,
  action: SendingAction,
  run: Run,
  call: ActingCall,
): Promise<MessageOutcome | undefined> {
  const row = await options.outbox.withKey(keyOf(run, call));
  return row && sent(options, action, run, row);
}

/** Comes from the call: made again after a crash it is the same message. */
function keyOf({ runId }: ActingRun, { callId }: ActingCall): string {
  return `${SENT}${outboxKey(runId, callId)}`.slice(0, KEY_LENGTH);
}

function show<Run extends ActingRun>(
  options: Pick<MessageActionsOptions<Run>, "show">,
  action: MessageAction,
  run: Run,
  { definition }: MessagePlace,
  { callId }: ActingCall,
): MessageOutcome {
  if (!isSending(action)) return no("This client shows text only.");
  const text = action.action === "send" ? action.text : writtenPoll(action, definition.capabilities);
  options.show(text, run, callId);
  run.onSent(text, []);
  return { ok: true, text: "The message was shown." };
}

async function send<Run extends ActingRun, Row extends OutboxRow>(
  options: MessageActionsOptions<Run, Row>,
  action: SendingAction,
  run: Run,
  place: MessagePlace,
  call: ActingCall,
): Promise<MessageOutcome> {
  const { outbox, lease, now } = options;
  const payload = await payloadOf(options, action, run, place, call);
  if ("ok" in payload) return payload;
  const row = outboxRow(place.to, payload, { expiresAt: now() + REPLY_TTL_MS, claim: false });
  const { sessionKey } = run;
  const key = keyOf(run, call);
  const told = place.isCurrent
    ? {}
    : { told: options.toldThere(place.to, { id: key, text: wordsOf(action) }, run) };
  const [added] = await outbox.enqueue([{ ...row, key, ...told }], { lease, sessionKey });
  if (added === undefined) throw new Error("the outbox gave no row back");
  return sent(options, action, run, added);
}

/** What goes out, or why it does not. */
async function payloadOf<Run extends ActingRun, Row extends OutboxRow>(
  options: MessageActionsOptions<Run, Row>,
  action: SendingAction,
  run: Run,
  { to, definition: { capabilities } }: MessagePlace,
  { signal }: ActingCall,
): Promise<Outbound | MessageOutcome> {
  if (action.action === "poll") return createPollOutbound(pollOf(action), capabilities);
  const { text, media, replyTo } = action;
  // Platforms put an answer where the answered message is, whatever the address says.
  const answered =
    replyTo === undefined
      ? undefined
      : await messageAt(options, { action: "reply", messageId: replyTo }, to, run);
  if (answered !== undefined && "ok" in answered) return answered;
  const prepared = await options.prepare(media, run, capabilities, signal);
  if (prepared === undefined) return no("Nothing was sent: this turn was stopped.");
  const { parts, lines } = prepared;
  if (lines.length > 0) return no(`Nothing was sent. ${lines.join(" ")}`);
  return createOutbound(text, answered?.id, capabilities, parts);
}

/** The row is in the outbox and will be sent. Repeating the call changes nothing. */
function sent<Run extends ActingRun, Row extends OutboxRow>(
  { deliver }: Pick<MessageActionsOptions<Run, Row>, "deliver">,
  action: SendingAction,
  run: Run,
  row: Row,
): MessageOutcome {
  deliver(pendingRows([row]));
  const isCurrent = destinationKey(row) === destinationKey(run.event);
  if (isCurrent && action.action === "send") run.onSent(action.text, action.media);
  return { ok: true, text: `The message is on its way. Its id is ${row.key}.` };
}

function wordsOf(action: SendingAction): string {
  return action.action === "send" ? action.text : `[Poll] ${action.question}: ${action.options.join(" / ")}`;
}

/** An action on an existing message. */
async function change<Run extends ActingRun, Row extends OutboxRow>(
  options: MessageActionsOptions<Run, Row>,
  action: Exclude<MessageAction, SendingAction>,
  run: Run,
  { to, definition, running }: MessagePlace,
  { signal }: ActingCall,
): Promise<MessageOutcome> {
  if (running === undefined) return no(NOT_RUNNING);
  const message = await messageAt(options, action, to, run);
  if ("ok" in message) return message;
  const { id, rest } = message;
  const address = definition.codec.decode(to.address);
  const remove = async (part: string): Promise<void> => running.remove?.(address, part, signal);
  switch (action.action) {
    case "react":
      if (!running.react) return no("This channel has no reactions.");
      await running.react(address, id, { emoji: action.emoji, on: true }, signal);
      return { ok: true, text: "Reacted." };
    case "close_poll": {
      if (!running.closePoll) return no("This channel has no polls of its own: people answer in words.");
      const { options: votes } = await running.closePoll(address, id, signal);
      return { ok: true, text: `Closed. ${votes.map((each) => `${each.text}: ${each.votes}`).join(", ")}` };
    }
    case "edit": {
      if (!running.edit) return no("This channel cannot edit messages.");
      const edited: Outbound = createOutbound(action.text, undefined, definition.capabilities);
      await running.edit(address, id, edited, signal);
      // It says all of it: what went out behind it is the rest of what it said before.
      await removeParts(
        rest.filter(({ type }) => type !== "media"),
        remove,
      );
      await options.changeThere(to, { id: action.messageId, text: action.text }, run);
      return { ok: true, text: "Edited." };
    }
    case "delete":
      if (!running.remove) return no("This channel cannot delete messages.");
      // The first one last: where another one stays, all of it can be deleted again.
      await removeParts(rest, remove);
      await remove(id);
      await options.changeThere(to, { id: action.messageId, text: undefined }, run);
      return { ok: true, text: "Deleted." };
  }
}

/** Those that are gone already, as after an edit, are none that could hinder it. */
async function removeParts(
  parts: FoundMessage["rest"],
  remove: (id: string) => Promise<void>,
): Promise<void> {
  for (const { id } of parts)
    await remove(id).catch((error: unknown) => {
      if (!isChannelError(error) || error.code !== "not_found") throw error;
    });
}

/** An agent's request about an existing message. */
interface MessageUse {
  readonly action: "reply" | Exclude<MessageAction, SendingAction>["action"];
  readonly messageId: string;
}

/** A message at its platform, by the id of its first part, and what else went out with it. */
interface FoundMessage {
  readonly id: string;
  readonly rest: readonly { readonly id: string; readonly type: OutboundPart["type"] | undefined }[];
}

/** Finds a message of a conversation, by its platform's id or by the one that `send` gave. */
async function messageAt<Run extends ActingRun, Row extends OutboxRow>(
  options: Pick<MessageActionsOptions<Run, Row>, "outbox" | "isOfConversation">,
  use: MessageUse,
  to: Destination,
  run: Run,
): Promise<FoundMessage | MessageOutcome> {
  const { messageId } = use;
  const missing = no(`There is no message ${messageId} in that conversation.`);
  if (!messageId.startsWith(SENT))
    return (await mayReach(options, use, to, run)) ? { id: messageId, rest: [] } : missing;
  const row = await options.outbox.withKey(messageId);
  if (row === undefined || destinationKey(row) !== destinationKey(to)) return missing;
  if (row.state === "pending" || row.state === "sending")
    return no(`${messageId} is not out yet. Try again later.`);
  const [first, ...rest] = row.receipts.flatMap(({ part, receipt }) => {
    const id = isPayload(receipt) ? textAt(receipt, "messageId") : undefined;
    return id === undefined ? [] : [{ id, type: row.payload.parts[part]?.type }];
  });
  if (first === undefined) return no(`It is not known that ${messageId} went out.`);
  return { id: first.id, rest: rest.filter(({ id }) => id !== first.id) };
}

/**
 * What is quoted may be anything that stands there. Of what went out by this account an agent changes what an agent
 * said: whoever quotes a question of the gateway's, or its list of what waits for an owner, must not have it rewritten.
 */
async function mayReach<Run extends ActingRun, Row extends OutboxRow>(
  { outbox, isOfConversation }: Pick<MessageActionsOptions<Run, Row>, "outbox" | "isOfConversation">,
  { action, messageId }: MessageUse,
  to: Destination,
  run: Run,
): Promise<boolean> {
  if (await isOfConversation(messageId, to, run)) return true;
  if (!isQuoted(messageId, to, run)) return false;
  if (action === "react" || action === "reply") return true;
  const row = await outbox.ofMessage({ channel: to.channel, account: to.account, messageId });
  return row !== undefined && (row.runId !== undefined || row.key.startsWith(SENT));
}

/** Whether the message that is answered quotes another one. */
function isQuoted(messageId: string, to: Destination, { event }: ActingRun): boolean {
  const { references = [] } = event;
  const isReferred = references.some(
    (reference) => reference.kind !== "forward" && reference.messageId === messageId,
  );
  return destinationKey(to) === destinationKey(event) && isReferred;
}

type PollAction = Extract<MessageAction, { action: "poll" }>;

function pollOf({ question, options, multiple = false }: PollAction): PollPart {
  return { type: "poll", question, options, multiple };
}

function writtenPoll(poll: PollAction, capabilities: Capabilities): string {
  const { parts } = createPollOutbound(pollOf(poll), capabilities);
  return parts.flatMap((part) => ("text" in part ? [part.text] : [])).join("\n");
}

function no(message: string): MessageOutcome {
  return { ok: false, message };
}
