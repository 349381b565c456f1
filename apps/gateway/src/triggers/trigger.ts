import type { MessageEvent } from "@signalbox/channel";
import type { Role } from "@signalbox/routing";
import type { TaintSource } from "@signalbox/tools";
import { z } from "zod";

/**
 * Hands over a message that no one has written. The same event again is the same message: `id` is its id, which is
 * absent if it ended long ago. `rejected`: hand it over again later.
 */
export type EmitTrigger = (
  event: MessageEvent,
  terms: TriggerTerms,
) => Promise<{ readonly outcome: "taken"; readonly id?: string } | { readonly outcome: "rejected" }>;

/** The terms on which an agent is woken: on whose behalf, and with fewer rights than that person has. */
export interface TriggerTerms {
  readonly agentId: string;
  readonly sessionKey: string;
  /** The most that its run may do; less if the person it acts for has fewer rights by then. */
  readonly atMost: Role;
  /** Present where one session gives work to another, or reports on it: a model has written the words. */
  readonly delegated?: Delegated;
  /** The other conversation whose agent says it: a run that answers it passes nothing on to further ones. */
  readonly saidFrom?: string;
  /** Present in the session of a sub-agent. */
  readonly subAgent?: SubAgentTerms;
}

interface Delegated {
  /** What tainted the run that wrote them. */
  readonly taint: readonly TaintSource[];
  /** The message that began it all, over any number of sub-agents. */
  readonly chain: string;
}

/** A sub-agent uses at most the tools of the run that created it, and only that run's session sees what it says. */
export interface SubAgentTerms {
  readonly id: string;
  readonly depth: number;
  readonly tools: readonly string[];
}

/** A conversation as a message in it shows it, and in whose name the agent is woken there. */
export type Place = Pick<
  MessageEvent,
  "channel" | "account" | "botId" | "conversation" | "address" | "sender"
> & {
  /** Where a hook passed the message on: it has a say, and pays, instead of the holder of its token. */
  readonly forwarded?: { readonly from: string };
};

export const keptPlace: z.ZodType<Place> = z.object({
  channel: z.string(),
  account: z.string(),
  botId: z.string().exactOptional(),
  conversation: z.object({
    id: z.string(),
    kind: z.enum(["direct", "group", "channel"]),
    threadId: z.string().exactOptional(),
    parentId: z.string().exactOptional(),
    guildId: z.string().exactOptional(),
    teamId: z.string().exactOptional(),
  }),
  address: z.string(),
  sender: z.object({
    id: z.string(),
    name: z.string().exactOptional(),
    isBot: z.boolean(),
    isSelf: z.boolean(),
    roles: z.array(z.string()).exactOptional(),
    authenticatedAs: z.enum(["owner", "member"]).exactOptional(),
  }),
  forwarded: z.object({ from: z.string() }).exactOptional(),
});

/** The place of a message, as far as an answer to it and the gate need it. */
export function placeOf(event: MessageEvent): Place {
  const { channel, account, botId, conversation, address, sender, forwarded } = event;
  return keptPlace.parse({
    channel,
    account,
    conversation,
    address,
    sender,
    ...(botId === undefined ? {} : { botId }),
    ...(forwarded?.from === undefined ? {} : { forwarded }),
  });
}

/** The text for an agent when something is due. */
interface Due {
  /** Of the occurrence: the same one is the same event. */
  readonly eventId: string;
  readonly dueAt: number;
  readonly text: string;
}

/**
 * What is due, as a message of a conversation. It goes the way of every other message, so a stop or a crash neither
 * loses nor repeats it, and it waits there for a current run.
 */
export function messageAt(place: Place, { eventId, dueAt, text }: Due): MessageEvent {
  return {
    ...place,
    type: "message",
    eventId,
    // As that of a platform's own command: there is none that an answer could quote.
    messageId: "",
    timestamp: dueAt,
    addressed: place.conversation.kind === "direct" ? "dm" : "mention",
    text,
    media: [],
    mentions: [],
  };
}
