import type { Outgoing } from "@signalbox/attachments";
import { type Channel, type ChannelDefinition, outboundOf } from "@signalbox/channel";
import { type Delivery, outboxKey, outboxRow, pendingRows } from "@signalbox/delivery";
import { mediaMark } from "@signalbox/prompt";
import type { LiveHub } from "@signalbox/server";
import type { LeaseToken, OutboxRow } from "@signalbox/store";
import type { MessageAction, MessageOutcome } from "@signalbox/tools";
import { messageOf } from "../errors.ts";
import { sentId } from "../path/live-events.ts";
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
  const { store, lease, live, now } = options;

  const send = async (
    action: Extract<MessageAction, { action: "send" }>,
    run: ActiveRun,
    definition: ChannelDefinition,
    running: Channel | undefined,
    call: { readonly signal: AbortSignal; readonly callId: string },
  ): Promise<MessageOutcome> => {
    let { address } = run.event;
    // The key comes from the call, so that a call made again after a crash is the same message.
    const key = outboxKey(run.runId, call.callId);
    const sent = (row: OutboxRow<GatewayBodies>): MessageOutcome => {
      options.deliverer.deliver(pendingRows([row]));
      if (action.target === undefined) {
        for (const said of [action.text, ...action.media.map(mediaMark)]) run.onSent(said);
      }
      return { ok: true, text: "The message is on its way." };
    };
    // Asked before anything that may be otherwise by now, such as a file that is gone.
    const earlier = await store.outbox.withKey(key);
    if (earlier !== undefined) return sent(earlier);
    // Platforms put an answer where the answered message is, whatever the address says.
    if (action.replyTo !== undefined) {
      if (action.target !== undefined) return no("A message to another conversation cannot reply to one.");
      if (!(await isOfConversation(store, run.event, action.replyTo)))
        return no(`There is no message ${action.replyTo} in this conversation to reply to.`);
    }
    if (action.target !== undefined) {
      if (!running) return no(NOT_RUNNING);
      if (!running.openDirect) return no(`This channel cannot write to ${action.target} from here.`);
      address = definition.codec.encode(await running.openDirect(action.target, call.signal));
    }
    const wanted = { sources: action.media, voice: false };
    const { capabilities } = definition;
    const { agent, mayAttach } = run;
    const prepared = await options.mediaOut.prepare(wanted, agent.id, capabilities, mayAttach, call.signal);
    if (prepared === undefined) return no("Nothing was sent: this turn was stopped.");
    const { parts, lines } = prepared;
    if (lines.length > 0) return no(`Nothing was sent. ${lines.join(" ")}`);
    const payload = outboundOf(action.text, action.replyTo, capabilities, parts);
    const row = outboxRow({ ...run.event, address }, payload, { expiresAt: now() + TTL_MS, claim: false });
    const [added] = await store.outbox.enqueue([{ ...row, key }], { lease, sessionKey: run.sessionKey });
    if (added === undefined) throw new Error("the outbox gave no row back");
    return sent(added);
  };

  return {
    async act(action, run, call) {
      const { event } = run;
      if (action.channel !== undefined && action.channel !== event.channel) {
        return no(`Only the current channel, ${event.channel}, can be written to.`);
      }
      const definition = options.definition(event.channel, event.account);
      if (action.action === "send" && action.media.length > 0) {
        if (definition?.capabilities.sendMedia === undefined)
          return no("Attachments cannot be sent here. Say where the file is instead.");
      }
      try {
        if (definition?.capabilities.awaitsSingleAnswer === true)
          return no("This client reads only your reply. Say it there.");
        if (definition?.capabilities.readsSession === true) {
          if (action.action !== "send" || action.target !== undefined)
            return no("This client shows text only.");
          live.publish(run.sessionKey, {
            type: "message",
            message: {
              id: sentId(call.callId),
              role: "assistant",
              text: action.text,
              at: now(),
              runId: run.runId,
            },
          });
          run.onSent(action.text);
          return { ok: true, text: "The message was shown." };
        }
        if (definition === undefined)
          return no(`The account ${event.account} of ${event.channel} is not configured any more.`);
        const running = options.account(event.channel, event.account)?.running;
        // A text waits in the outbox until the account runs; everything else is done at once or not at all.
        if (action.action === "send") return await send(action, run, definition, running, call);
        if (running === undefined) return no(NOT_RUNNING);
        const to = definition.codec.decode(event.address);
        switch (action.action) {
          case "react":
            if (!running.react) return no("This channel has no reactions.");
            await running.react(to, action.messageId, { emoji: action.emoji, on: true }, call.signal);
            return { ok: true, text: "Reacted." };
          case "edit":
            if (!running.edit) return no("This channel cannot edit messages.");
            await running.edit(
              to,
              action.messageId,
              outboundOf(action.text, undefined, definition.capabilities),
              call.signal,
            );
            return { ok: true, text: "Edited." };
          case "delete":
            if (!running.remove) return no("This channel cannot delete messages.");
            await running.remove(to, action.messageId, call.signal);
            return { ok: true, text: "Deleted." };
        }
      } catch (error) {
        return no(options.redact(messageOf(error)));
      }
    },
  };
}

function no(message: string): MessageOutcome {
  return { ok: false, message };
}
