import {
  type Capabilities,
  type Channel,
  type MediaPart,
  type Outbound,
  outboundOf,
  reasonOf,
} from "@signalbox/channel";
import type { AccountLookup, DeliveryAccount } from "./account.ts";
import type { Destination, LeaseToken, OutboxRow, OutboxStore } from "./outbox.ts";
import { outboxKey, outboxRow, pendingRows } from "./rows.ts";

/** What an agent does in a conversation while it works. */
export type MessageAction = {
  /** A person to write to. Default: the conversation that is answered. */
  readonly target?: string | undefined;
  /** Default: the channel of that conversation, which is the only one that can be written to. */
  readonly channel?: string | undefined;
} & (
  | {
      readonly action: "send";
      readonly text: string;
      /** Paths or URLs. */
      readonly media: readonly string[];
      readonly replyTo?: string | undefined;
    }
  | { readonly action: "react"; readonly messageId: string; readonly emoji: string }
  | { readonly action: "edit"; readonly messageId: string; readonly text: string }
  | { readonly action: "delete"; readonly messageId: string }
);

export type MessageOutcome =
  | { readonly ok: true; readonly text: string }
  /** `message` is for the model. */
  | { readonly ok: false; readonly message: string };

/** A run that acts in the conversation that it answers. A host adds what its own functions need. */
export interface ActingRun {
  readonly event: Destination;
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

export interface MessageActionsOptions<Run extends ActingRun, Row extends OutboxRow = OutboxRow> {
  readonly outbox: Pick<OutboxStore<Row>, "enqueue" | "withKey">;
  readonly lease: LeaseToken;
  /** An account that runs. */
  readonly account: AccountLookup;
  /** The channel of a configured account, also while the account does not run. */
  readonly definition: (channel: string, account: string) => DeliveryAccount["definition"] | undefined;
  /** Sends rows that were just added. */
  readonly deliver: (rows: readonly Row[]) => void;
  /** Makes attachments ready, with a line for each that cannot be sent. Undefined where `signal` fired first. */
  readonly prepare: (
    media: readonly string[],
    run: Run,
    capabilities: Capabilities,
    signal: AbortSignal,
  ) => Promise<{ readonly parts: readonly MediaPart[]; readonly lines: readonly string[] } | undefined>;
  /** Whether a message is of the conversation that is answered: platforms' ids do not say where they lead. */
  readonly isOfConversation: (run: Run, messageId: string) => Promise<boolean>;
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

const TTL_MS = 24 * 60 * 60 * 1000;
const NOT_RUNNING = "This channel's account does not run just now. Try again later.";

/**
 * Texts go through the outbox as replies do, and wait there until the account runs; the rest is done at once or not at
 * all.
 */
export function createMessageActions<Run extends ActingRun, Row extends OutboxRow>(
  options: MessageActionsOptions<Run, Row>,
): ActOnMessages<Run> {
  return async (action, run, call) => {
    const { channel, account } = run.event;
    if (action.channel !== undefined && action.channel !== channel)
      return no(`Only the current channel, ${channel}, can be written to.`);
    const definition = options.definition(channel, account);
    const { sendMedia, awaitsSingleAnswer, readsSession } = definition?.capabilities ?? {};
    if (action.action === "send" && action.media.length > 0 && sendMedia === undefined)
      return no("Attachments cannot be sent here. Say where the file is instead.");
    if (awaitsSingleAnswer === true) return no("This client reads only your reply. Say it there.");
    if (readsSession === true) return show(options, action, run, call);
    if (definition === undefined)
      return no(`The account ${account} of ${channel} is not configured any more.`);
    const running = options.account(channel, account)?.running;
    try {
      if (action.action === "send") return await send(options, action, run, { definition, running, ...call });
      return running === undefined
        ? no(NOT_RUNNING)
        : await change(action, run, { definition, running, signal: call.signal });
    } catch (error) {
      return no(options.redact(reasonOf(error)));
    }
  };
}

type SendAction = Extract<MessageAction, { action: "send" }>;

function show<Run extends ActingRun>(
  options: Pick<MessageActionsOptions<Run>, "show">,
  action: MessageAction,
  run: Run,
  { callId }: ActingCall,
): MessageOutcome {
  if (action.action !== "send" || action.target !== undefined) return no("This client shows text only.");
  options.show(action.text, run, callId);
  run.onSent(action.text, []);
  return { ok: true, text: "The message was shown." };
}

interface SendTo extends ActingCall {
  readonly definition: DeliveryAccount["definition"];
  /** Absent while the account does not run. */
  readonly running: Channel | undefined;
}

/** By way of the outbox, under a key that comes from the call: made again after a crash it is the same message. */
async function send<Run extends ActingRun, Row extends OutboxRow>(
  options: MessageActionsOptions<Run, Row>,
  action: SendAction,
  run: Run,
  to: SendTo,
): Promise<MessageOutcome> {
  const { outbox, lease, now } = options;
  const { sessionKey } = run;
  const key = outboxKey(run.runId, to.callId);
  // Asked before anything that may be otherwise by now, such as a file that is gone.
  const earlier = await outbox.withKey(key);
  if (earlier !== undefined) return sent(options, action, run, earlier);
  const address = await addressOf(options, action, run, to);
  if (typeof address !== "string") return address;
  const prepared = await options.prepare(action.media, run, to.definition.capabilities, to.signal);
  if (prepared === undefined) return no("Nothing was sent: this turn was stopped.");
  const { parts, lines } = prepared;
  if (lines.length > 0) return no(`Nothing was sent. ${lines.join(" ")}`);
  const payload = outboundOf(action.text, action.replyTo, to.definition.capabilities, parts);
  const row = outboxRow({ ...run.event, address }, payload, { expiresAt: now() + TTL_MS, claim: false });
  const [added] = await outbox.enqueue([{ ...row, key }], { lease, sessionKey });
  if (added === undefined) throw new Error("the outbox gave no row back");
  return sent(options, action, run, added);
}

/** Where a message goes, or why it cannot. */
async function addressOf<Run extends ActingRun>(
  { isOfConversation }: Pick<MessageActionsOptions<Run>, "isOfConversation">,
  { target, replyTo }: SendAction,
  run: Run,
  { definition, running, signal }: SendTo,
): Promise<string | MessageOutcome> {
  // Platforms put an answer where the answered message is, whatever the address says.
  if (replyTo !== undefined) {
    if (target !== undefined) return no("A message to another conversation cannot reply to one.");
    if (!(await isOfConversation(run, replyTo)))
      return no(`There is no message ${replyTo} in this conversation to reply to.`);
  }
  if (target === undefined) return run.event.address;
  if (running === undefined) return no(NOT_RUNNING);
  if (!running.openDirect) return no(`This channel cannot write to ${target} from here.`);
  return definition.codec.encode(await running.openDirect(target, signal));
}

function sent<Row extends OutboxRow>(
  { deliver }: { readonly deliver: (rows: readonly Row[]) => void },
  { target, text, media }: SendAction,
  { onSent }: ActingRun,
  row: Row,
): MessageOutcome {
  deliver(pendingRows([row]));
  if (target === undefined) onSent(text, media);
  return { ok: true, text: "The message is on its way." };
}

/** What is done to a message that is there already. */
async function change(
  action: Exclude<MessageAction, SendAction>,
  { event }: ActingRun,
  {
    definition,
    running,
    signal,
  }: { definition: DeliveryAccount["definition"]; running: Channel; signal: AbortSignal },
): Promise<MessageOutcome> {
  const to = definition.codec.decode(event.address);
  switch (action.action) {
    case "react":
      if (!running.react) return no("This channel has no reactions.");
      await running.react(to, action.messageId, { emoji: action.emoji, on: true }, signal);
      return { ok: true, text: "Reacted." };
    case "edit": {
      if (!running.edit) return no("This channel cannot edit messages.");
      const edited: Outbound = outboundOf(action.text, undefined, definition.capabilities);
      await running.edit(to, action.messageId, edited, signal);
      return { ok: true, text: "Edited." };
    }
    case "delete":
      if (!running.remove) return no("This channel cannot delete messages.");
      await running.remove(to, action.messageId, signal);
      return { ok: true, text: "Deleted." };
  }
}

function no(message: string): MessageOutcome {
  return { ok: false, message };
}
