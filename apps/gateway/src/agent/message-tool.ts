import type { Outgoing } from "@signalbox/attachments";
import type { MessageEvent } from "@signalbox/channel";
import {
  type ActOnMessages,
  createMessageActions,
  createQuestions,
  type Destination,
  type Drafts,
  getDestinationKey,
  type NotifyingDelivery,
} from "@signalbox/delivery";
import { createCrossPosts } from "@signalbox/prompt";
import { getSentId } from "@signalbox/runs";
import type { UserQuestions } from "@signalbox/tools";
import { getPhrases } from "../configure/get-phrases.ts";
import type { CoreContext } from "../core-context.ts";
import { explainClosed } from "../messages/reply-windows.ts";
import { isOfConversation } from "../messages/traces.ts";
import { ShutdownAbort } from "../shutdown.ts";
import type { GatewayStore } from "../store.ts";
import { createUserPrompts, type UserPrompts } from "./ask-people.ts";
import type { ActiveRun, ToolRun } from "./tool-run.ts";

/** Services that the message tool uses in addition to the core context. */
export interface SendOptions {
  readonly delivery: NotifyingDelivery;
  readonly outgoing: Outgoing;
}

/** Implements the message tool. */
export function createSend(core: CoreContext, { delivery, outgoing }: SendOptions): ActOnMessages<ActiveRun> {
  const { store, lease, accounts, replyWindows, redact, now } = core;
  const crossPosts = createCrossPosts({ store: store.groupHistory, now });
  return createMessageActions<ActiveRun>({
    outbox: store.outbox,
    lease,
    definition: core.getChannel,
    account: core.getAccount,
    accounts: () => accounts.list(),
    deliver: (rows) => delivery.deliver(rows),
    redact,
    now,
    prepare: (sources, { agent, event, mayAttach, isVisible }, capabilities, signal) => {
      const wanted = { sources, voice: false };
      const phrases = getPhrases(core, { agentId: agent.id, stored: { event } });
      const agentId = agent.shardId;
      return outgoing.prepare({ wanted, agentId, capabilities, mayAttach, isVisible, phrases, signal });
    },
    async findRefusal(to) {
      const closed = await replyWindows.findClosed(to);
      return closed && explainClosed(closed);
    },
    isOfConversation: (messageId, to, { event }) => isInConversation(store, messageId, to, event),
    createHistoryEntry: (to, message, sender) => crossPosts.createEntry(to, message, sender),
    updateHistoryEntry: (to, message, sender) => crossPosts.update(to, message, sender),
    show: (text, run, callId) => showInSession(core, run, getSentId(callId), text),
  });
}

async function isInConversation(
  store: GatewayStore,
  messageId: string,
  to: Destination,
  event: MessageEvent,
): Promise<boolean> {
  if (getDestinationKey(to) === getDestinationKey(event)) return isOfConversation(store, event, messageId);
  const { channel, account, address } = to;
  return (await store.inbox.find({ channel, account, messageId }))?.payload.event.address === address;
}

/** Services with which tools ask people, in addition to the core context. */
export interface UserPromptParts extends Pick<SendOptions, "delivery"> {
  readonly drafts: Pick<Drafts, "startNewMessage">;
  readonly userQuestions: UserQuestions;
}

/** Creates the service with which tools ask people. */
export function openUserPrompts(
  core: CoreContext,
  { delivery, drafts, userQuestions }: UserPromptParts,
): UserPrompts<ToolRun> {
  const { store, logger } = core;
  return createUserPrompts({
    questions: createQuestions({
      ...core,
      delivery,
      definition: core.getChannel,
      account: core.getAccount,
      outbox: store.outbox,
    }),
    userQuestions,
    startNewMessage: (runId) => drafts.startNewMessage(runId),
    askOwners: (create) => delivery.ownerNotices.ask(create),
    owners: () => core.config.current().settings.access.owners,
    show: (run, id, text, choices) => showInSession(core, run, id, text, choices),
    phrasesOf: (written) => getPhrases(core, written),
    isShutdown: (reason) => reason instanceof ShutdownAbort,
    logger,
  });
}

/** Sends a message to clients that read the session directly. */
function showInSession(
  { live, now }: CoreContext,
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
      choices: choices.length === 0 ? undefined : [...choices],
    },
  });
}
