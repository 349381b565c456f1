import type { MediaForModel } from "@signalbox/attachments";
import type { ChannelDefinition, MessageEvent } from "@signalbox/channel";
import { senderName } from "@signalbox/channel/accounts";
import { broughtContext, type ContextDocument, type ContextMessage, eventContext } from "@signalbox/prompt";
import type { Account } from "@signalbox/setup";
import type { GatewayStore } from "../../store.ts";
import { historyKey } from "../3-accept/unanswered.ts";
import type { QueuedMessage } from "../4-queue/message.ts";

export interface InboundContextPorts {
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

export const NOTHING_READ: ReadAlong = {
  pages: [],
  media: { blocks: [], files: [] },
  history: [],
  memory: [],
};

/** The machine's, in which agents are told the time. */
const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The facts about a message that are put before it: who wrote it, where and when, and what it quotes. */
export type FactsOf = (message: QueuedMessage) => Promise<string>;

export function createFacts(ports: InboundContextPorts): FactsOf {
  return async ({ stored: { event, role } }) => {
    const { channel, account } = event;
    return eventContext(event, {
      senderName: await senderName(event, ports.account(channel, account)),
      isOwnClient: ports.definition(channel, account)?.capabilities.authenticatedByGateway === true,
      role,
      timeZone: TIME_ZONE,
      now: ports.now(),
    });
  };
}

/** What was read for a message, but for what memory has, in words for the model. */
export function broughtWith({ pages, media: { files }, history }: ReadAlong): string {
  return broughtContext({ history, files, pages }, TIME_ZONE);
}

/** What was said in the group since the agent was last addressed; nothing in a direct chat. */
export async function groupHistoryOf(
  groupHistory: Pick<GatewayStore["groupHistory"], "list">,
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
