import type { MediaForModel } from "@signalbox/attachments";
import { resolveSenderName } from "@signalbox/channel/accounts";
import {
  type ContextDocument,
  createEventContext,
  createUntrustedContext,
  getCrossPostKey,
  getEditsKey,
  getGroupKey,
  getUndeliveredKey,
  isCrossPostKey,
  isEditsKey,
  isUndeliveredKey,
  toGroupMessage,
} from "@signalbox/prompt";
import type { ToldEntry } from "@signalbox/store";
import type { GatewayContext } from "../../context.ts";
import { getMachineTimeZone } from "../../machine-time-zone.ts";
import type { QueuedMessage } from "../../messages/queued-message.ts";
import type { GatewayStore } from "../../store.ts";

/** Additional content that was read for a message. */
export interface ReadAlong {
  readonly pages: readonly ContextDocument[];
  readonly media: Pick<MediaForModel, "blocks" | "files">;
  /** Messages in the group since the agent was last addressed. */
  readonly told: readonly ToldEntry[];
  /** Lines recalled from memory. */
  readonly memory: readonly string[];
}

export const NOTHING_READ: ReadAlong = {
  pages: [],
  media: { blocks: [], files: [] },
  told: [],
  memory: [],
};

/** Returns the facts to place before a message: its author, conversation and time, and quoted text. */
export async function describeMessage(
  ctx: GatewayContext,
  { stored: { event, role } }: QueuedMessage,
): Promise<string> {
  const { channel, account } = event;
  return createEventContext(event, {
    senderName: await resolveSenderName(event, ctx.getAccount(channel, account)),
    isOwnClient: ctx.getCapabilities(channel, account)?.authenticatedByGateway === true,
    role,
    timeZone: ctx.getTimeZone(event),
    now: ctx.now(),
  });
}

/** Formats the pages and files of a message for the model. */
export function formatReadContent({ pages, media: { files } }: ReadAlong): string {
  return createUntrustedContext({ files, pages }, getMachineTimeZone().name);
}

/** Formats earlier messages of the group, and messages sent there from other conversations, for the model. */
export function formatGroupHistory(told: readonly ToldEntry[]): string {
  const {
    history = [],
    edited = [],
    sent = [],
    undelivered = [],
  } = Object.groupBy(told, ({ conversation }) => {
    if (isEditsKey(conversation)) return "edited";
    if (isUndeliveredKey(conversation)) return "undelivered";
    return isCrossPostKey(conversation) ? "sent" : "history";
  });
  const context = {
    history: history.map(toGroupMessage),
    edited: edited.map(toGroupMessage),
    sent: sent.map(toGroupMessage),
    undelivered: undelivered.map(toGroupMessage),
  };
  return createUntrustedContext(context, getMachineTimeZone().name);
}

/**
 * Returns the messages in a group since the agent was last addressed, messages that agents sent here from other
 * conversations, and edits of answered messages. A message that starts a thread also gets the messages of the
 * surrounding conversation.
 */
export async function readGroupHistory(
  groupHistory: GatewayStore["groupHistory"],
  { sessionKey, stored: { event } }: QueuedMessage,
): Promise<readonly ToldEntry[]> {
  const { kind, outerAddress } = event.conversation;
  const places = [
    getEditsKey(sessionKey),
    getUndeliveredKey(sessionKey),
    getCrossPostKey(event),
    ...(outerAddress === undefined ? [] : [getCrossPostKey({ ...event, address: outerAddress })]),
    ...(kind === "direct" ? [] : [getGroupKey(event)]),
  ];
  const entries = places.map(async (conversation) =>
    (await groupHistory.list(conversation)).map((entry) => ({ ...entry, conversation })),
  );
  return (await Promise.all(entries)).flat().toSorted((a, b) => a.at - b.at);
}
