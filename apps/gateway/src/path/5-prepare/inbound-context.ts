import type { MediaForModel } from "@signalbox/attachments";
import type { ChannelDefinition, MessageEvent } from "@signalbox/channel";
import { senderName } from "@signalbox/channel/accounts";
import {
  type ContextDocument,
  type ContextMessage,
  eventContext,
  type MessageContext,
} from "@signalbox/prompt";
import type { Account } from "@signalbox/setup";
import type { GatewayStore } from "../../store.ts";
import { historyKey } from "../3-accept/unanswered.ts";
import type { QueuedMessage } from "../4-queue/message.ts";

export interface InboundContextPorts {
  readonly groupHistory: Pick<GatewayStore["groupHistory"], "list">;
  readonly account: (channel: string, account: string) => Account | undefined;
  readonly definition: (channel: string, account: string) => ChannelDefinition | undefined;
  readonly now: () => number;
}

/** Entries of a group's history that a run tells of. */
export interface ToldHistory {
  readonly conversation: string;
  readonly ids: readonly string[];
}

/** What was read for a message. */
export interface ReadAlong {
  readonly pages: readonly ContextDocument[];
  readonly media: Pick<MediaForModel, "blocks" | "files">;
  /** What others said in the group since the agent was last addressed. */
  readonly history: readonly ContextMessage[];
  /** What memory has that bears on the message. */
  readonly memory: readonly string[];
}

/** The machine's, in which agents are told the time. */
const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Makes the context of each message: its quote, its files, who wrote it, where and when. */
export function createInboundContext(
  ports: InboundContextPorts,
): (message: QueuedMessage, read: ReadAlong) => Promise<MessageContext> {
  return async ({ stored: { event, role } }, { pages, media, history, memory }) => {
    const { channel, account } = event;
    const text = eventContext(event, {
      senderName: await senderName(event, ports.account(channel, account)),
      isOwnClient: ports.definition(channel, account)?.capabilities.authenticatedByGateway === true,
      role,
      history,
      pages,
      memory,
      files: media.files,
      timeZone: TIME_ZONE,
      now: ports.now(),
    });
    return { text, blocks: media.blocks };
  };
}

/** What was said in the group since the agent was last addressed; nothing in a direct chat. */
export async function groupHistoryOf(
  groupHistory: InboundContextPorts["groupHistory"],
  event: MessageEvent,
): Promise<{ readonly history: readonly ContextMessage[]; readonly told?: ToldHistory }> {
  if (event.conversation.kind === "direct") return { history: [] };
  const conversation = historyKey(event);
  const entries = await groupHistory.list(conversation);
  const history = entries.map(({ id, senderId, body, at }): ContextMessage => {
    const { text, name } = recordOf(body);
    return {
      messageId: id,
      senderId,
      timestamp: at,
      text: typeof text === "string" ? text : "",
      ...(typeof name === "string" ? { senderName: name } : {}),
    };
  });
  // It is forgotten with the commit of the run that tells it: after a crash it is told again.
  return entries.length === 0
    ? { history }
    : { history, told: { conversation, ids: entries.map(({ id }) => id) } };
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return value !== null && typeof value === "object" ? { ...value } : {};
}
