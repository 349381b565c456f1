import type { Outgoing } from "@signalbox/attachments";
import type { ChannelDefinition, MessageEvent } from "@signalbox/channel";
import {
  type AccountLookup,
  type ActOnMessages,
  createMessageActions,
  createQuestions,
  type Delivery,
  type Destination,
  destinationKey,
} from "@signalbox/delivery";
import { createSentThere } from "@signalbox/prompt";
import { sentId } from "@signalbox/runs";
import type { LiveHub } from "@signalbox/server";
import type { LeaseToken, OutboxRow } from "@signalbox/store";
import type { Logger } from "@signalbox/telemetry/logger";
import type { UserQuestions } from "@signalbox/tools";
import { type Asking, createAsking } from "../agent/asking.ts";
import { isOfConversation } from "../api/traces.ts";
import type { PhrasesOf } from "../configure/phrases-of.ts";
import { ShutdownAbort } from "../shutdown.ts";
import type { GatewayBodies, GatewayStore } from "../store.ts";
import type { ActiveRun, ToolRun } from "./tool-run.ts";

/** How agents speak to people while they work. */
export interface SpeakingOptions {
  readonly store: GatewayStore;
  readonly lease: LeaseToken;
  readonly definition: (channel: string, account: string) => ChannelDefinition | undefined;
  readonly account: AccountLookup;
  /** Every account that the configuration names. */
  readonly accounts: () => readonly { readonly channel: string; readonly account: string }[];
  readonly delivery: Pick<Delivery<OutboxRow<GatewayBodies>>, "deliver" | "ended">;
  readonly mediaOut: Outgoing;
  readonly live: LiveHub;
  readonly phrasesOf: PhrasesOf;
  readonly redact: (text: string) => string;
  readonly logger: Logger;
  readonly now: () => number;
}

/** What the message tool does. */
export function createSend(options: SpeakingOptions): ActOnMessages<ActiveRun> {
  const { store, lease, definition, account, accounts, delivery, mediaOut, phrasesOf, redact, now } = options;
  const sentThere = createSentThere({ store: store.groupHistory, now });
  return createMessageActions<ActiveRun, OutboxRow<GatewayBodies>>({
    outbox: store.outbox,
    lease,
    definition,
    account,
    accounts,
    deliver: (rows) => delivery.deliver(rows),
    redact,
    now,
    prepare: (sources, { agent: { id: agentId }, event, mayAttach }, capabilities, signal) => {
      const wanted = { sources, voice: false };
      const phrases = phrasesOf({ agentId, stored: { event } });
      return mediaOut.prepare({ wanted, agentId, capabilities, mayAttach, phrases, signal });
    },
    isOfConversation: (messageId, to, { event }) => isMessageOf(store, messageId, to, event),
    toldThere: (to, message, sender) => sentThere.entryOf(to, message, sender),
    changeThere: (to, message, sender) => sentThere.change(to, message, sender),
    show: (text, run, callId) => show(options, run, sentId(callId), text),
  });
}

async function isMessageOf(
  store: Pick<GatewayStore, "inbox">,
  messageId: string,
  to: Destination,
  event: MessageEvent,
): Promise<boolean> {
  if (destinationKey(to) === destinationKey(event)) return isOfConversation(store, event, messageId);
  const { channel, account, address } = to;
  return (await store.inbox.find({ channel, account, messageId }))?.payload.event.address === address;
}

/** How their tools ask people. */
export function openAsking(options: SpeakingOptions, userQuestions: UserQuestions): Asking<ToolRun> {
  const { store, logger } = options;
  return createAsking({
    questions: createQuestions({ ...options, outbox: store.outbox }),
    userQuestions,
    show: (run, id, text, choices) => show(options, run, id, text, choices),
    phrasesOf: options.phrasesOf,
    isShutdown: (reason) => reason instanceof ShutdownAbort,
    logger,
  });
}

/** To clients that read the conversation itself. */
function show(
  { live, now }: Pick<SpeakingOptions, "live" | "now">,
  { sessionKey, runId }: ToolRun,
  id: string,
  text: string,
  choices: readonly string[] = [],
): void {
  live.publish(sessionKey, {
    type: "message",
    message: {
      id,
      role: "assistant",
      text,
      at: now(),
      runId,
      ...(choices.length === 0 ? {} : { choices: [...choices] }),
    },
  });
}
