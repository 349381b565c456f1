import type { Outgoing } from "@signalbox/attachments";
import { type Channel, type ChannelDefinition, outboundOf } from "@signalbox/channel";
import { type Delivery, outboxKey, outboxRow, pendingRows } from "@signalbox/delivery";
import { mediaMark } from "@signalbox/prompt";
import { sentId } from "@signalbox/runs";
import type { LiveHub } from "@signalbox/server";
import type { LeaseToken, OutboxRow } from "@signalbox/store";
import type { MessageAction, MessageOutcome } from "@signalbox/tools";
import { messageOf } from "../errors.ts";
import type { Account } from "../resolve/accounts.ts";
import { type GatewayBodies, type GatewayStore, isOfConversation } from "../store.ts";
import type { ActiveRun } from "./tool-run.ts";

export interface MessageSenderOptions {
  readonly store: GatewayStore;
  readonly lease: LeaseToken;
  /** An account that runs. */
  readonly account: (channel: string, account: string) => Account | undefined;
  /** The channel of a configured account, also while the account does not run. */
  readonly definition: (channel: string, account: string) => ChannelDefinition | undefined;
  readonly mediaOut: Outgoing;
  readonly deliverer: Pick<Delivery, "deliver">;
  readonly live: LiveHub;
  /** Takes secrets out of what a channel says of a failure, which the model reads. */
  readonly redact: (text: string) => string;
  readonly now: () => number;
}

/** Carries out what the message tool asks for. Texts go through the outbox as replies do. */
export interface MessageSender {
  act(
    action: MessageAction,
    run: ActiveRun,
    call: { readonly signal: AbortSignal; readonly callId: string },
  ): Promise<MessageOutcome>;
}

const TTL_MS = 24 * 60 * 60 * 1000;
const NOT_RUNNING = "This channel's account does not run just now. Try again later.";

export function createMessageSender(options: MessageSenderOptions): MessageSender {
  return {
    async act(action, run, call) {
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
        // A text waits in the outbox until the account runs; everything else is done at once or not at all.
        if (action.action === "send")
          return await send(options, action, run, { definition, running, ...call });
        return running === undefined
          ? no(NOT_RUNNING)
          : await change(action, run, { definition, running, signal: call.signal });
      } catch (error) {
        return no(options.redact(messageOf(error)));
      }
    },
  };
}

type SendAction = Extract<MessageAction, { action: "send" }>;

/** To a client that reads the conversation itself. */
function show(
  { live, now }: MessageSenderOptions,
  action: MessageAction,
  { sessionKey, runId, onSent }: ActiveRun,
  { callId }: { readonly callId: string },
): MessageOutcome {
  if (action.action !== "send" || action.target !== undefined) return no("This client shows text only.");
  const message = { id: sentId(callId), role: "assistant", text: action.text, at: now(), runId } as const;
  live.publish(sessionKey, { type: "message", message });
  onSent(action.text);
  return { ok: true, text: "The message was shown." };
}

interface SendTo {
  readonly definition: ChannelDefinition;
  /** Absent while the account does not run. */
  readonly running: Channel | undefined;
  readonly signal: AbortSignal;
  readonly callId: string;
}

/** By way of the outbox, under a key that comes from the call: made again after a crash it is the same message. */
async function send(
  options: MessageSenderOptions,
  action: SendAction,
  run: ActiveRun,
  to: SendTo,
): Promise<MessageOutcome> {
  const { store, lease, now } = options;
  const key = outboxKey(run.runId, to.callId);
  // Asked before anything that may be otherwise by now, such as a file that is gone.
  const earlier = await store.outbox.withKey(key);
  if (earlier !== undefined) return sent(options, action, run, earlier);
  const address = await addressOf(options, action, run, to);
  if (typeof address !== "string") return address;
  const wanted = { sources: action.media, voice: false };
  const { capabilities } = to.definition;
  const { agent, mayAttach } = run;
  const prepared = await options.mediaOut.prepare(wanted, agent.id, capabilities, mayAttach, to.signal);
  if (prepared === undefined) return no("Nothing was sent: this turn was stopped.");
  const { parts, lines } = prepared;
  if (lines.length > 0) return no(`Nothing was sent. ${lines.join(" ")}`);
  const payload = outboundOf(action.text, action.replyTo, capabilities, parts);
  const row = outboxRow({ ...run.event, address }, payload, { expiresAt: now() + TTL_MS, claim: false });
  const [added] = await store.outbox.enqueue([{ ...row, key }], { lease, sessionKey: run.sessionKey });
  if (added === undefined) throw new Error("the outbox gave no row back");
  return sent(options, action, run, added);
}

/** Where a message goes, or why it cannot. */
async function addressOf(
  { store }: MessageSenderOptions,
  { target, replyTo }: SendAction,
  { event }: ActiveRun,
  { definition, running, signal }: SendTo,
): Promise<string | MessageOutcome> {
  // Platforms put an answer where the answered message is, whatever the address says.
  if (replyTo !== undefined) {
    if (target !== undefined) return no("A message to another conversation cannot reply to one.");
    if (!(await isOfConversation(store, event, replyTo)))
      return no(`There is no message ${replyTo} in this conversation to reply to.`);
  }
  if (target === undefined) return event.address;
  if (running === undefined) return no(NOT_RUNNING);
  if (!running.openDirect) return no(`This channel cannot write to ${target} from here.`);
  return definition.codec.encode(await running.openDirect(target, signal));
}

function sent(
  { deliverer }: MessageSenderOptions,
  { target, text, media }: SendAction,
  { onSent }: ActiveRun,
  row: OutboxRow<GatewayBodies>,
): MessageOutcome {
  deliverer.deliver(pendingRows([row]));
  if (target === undefined) for (const said of [text, ...media.map(mediaMark)]) onSent(said);
  return { ok: true, text: "The message is on its way." };
}

/** What is done to a message that is there already. */
async function change(
  action: Exclude<MessageAction, SendAction>,
  { event }: ActiveRun,
  { definition, running, signal }: { definition: ChannelDefinition; running: Channel; signal: AbortSignal },
): Promise<MessageOutcome> {
  const to = definition.codec.decode(event.address);
  switch (action.action) {
    case "react":
      if (!running.react) return no("This channel has no reactions.");
      await running.react(to, action.messageId, { emoji: action.emoji, on: true }, signal);
      return { ok: true, text: "Reacted." };
    case "edit": {
      if (!running.edit) return no("This channel cannot edit messages.");
      const edited = outboundOf(action.text, undefined, definition.capabilities);
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
