import type { MessageEvent } from "@signalbox/channel";
import type { Role } from "@signalbox/routing";
import type { TaintSource } from "@signalbox/tools";
import { z } from "zod";

/**
 * Passes a message that no person wrote to the pipeline. Emitting the same event again is idempotent. Returns the
 * message's id, which is absent if the message ended long ago. `rejected`: try again later.
 */
export type EmitTrigger = (
  event: MessageEvent,
  terms: TriggerTerms,
) => Promise<{ readonly outcome: "taken"; readonly id?: string } | { readonly outcome: "rejected" }>;

/** The person for whom an agent is triggered, and the restricted rights. */
export interface TriggerTerms {
  readonly agentId: string;
  readonly sessionKey: string;
  /** Maximum role of the run. The actual role is lower if the person has lost rights in the meantime. */
  readonly atMost: Role;
  /** Present if one session delegates a task to another or reports on it. A model wrote the text. */
  readonly delegated?: Delegated;
  /**
   * The other conversation whose agent wrote the text. A run that answers it cannot send anything to other
   * conversations.
   */
  readonly saidFrom?: string;
  /** Present in the session of a sub-agent. */
  readonly subAgent?: SubAgentTerms;
}

interface Delegated {
  /** Taint of the run that wrote the text. */
  readonly taint: readonly TaintSource[];
  /** The message that started the chain of sub-agents. */
  readonly chain: string;
}

/**
 * Terms of a sub-agent. It uses at most the tools of the run that created it, and only that run's session sees its
 * output.
 */
export interface SubAgentTerms {
  readonly id: string;
  readonly depth: number;
  readonly tools: readonly string[];
}

/** A conversation and the person on whose behalf the agent is triggered there. */
export type Place = Pick<
  MessageEvent,
  "channel" | "account" | "botId" | "conversation" | "address" | "sender"
> & {
  /**
   * The sender of a message that a hook forwarded. The sender's role and budget apply, not those of the token's holder.
   */
  readonly forwarded?: { readonly from: string };
};

export const placeSchema: z.ZodType<Place> = z.object({
  channel: z.string(),
  account: z.string(),
  botId: z.string().optional(),
  conversation: z.object({
    id: z.string(),
    otherIds: z.array(z.string()).optional(),
    kind: z.enum(["direct", "group", "channel"]),
    threadId: z.string().optional(),
    parentId: z.string().optional(),
    guildId: z.string().optional(),
    teamId: z.string().optional(),
    subject: z.string().optional(),
  }),
  address: z.string(),
  sender: z.object({
    id: z.string(),
    name: z.string().optional(),
    isBot: z.boolean(),
    isSelf: z.boolean(),
    roles: z.array(z.string()).optional(),
    authenticatedAs: z.enum(["owner", "member"]).optional(),
  }),
  forwarded: z.object({ from: z.string() }).optional(),
});

/** Returns the fields of a message that admission and an answer need. */
export function getPlace(event: MessageEvent): Place {
  const { channel, account, botId, conversation, address, sender, forwarded } = event;
  return placeSchema.parse({
    channel,
    account,
    conversation,
    address,
    sender,
    botId,
    forwarded: forwarded?.from === undefined ? undefined : forwarded,
  });
}

/** Text for the agent when a trigger is due. */
interface Due {
  /** Id of the occurrence. The same id denotes the same event. */
  readonly eventId: string;
  readonly dueAt: number;
  readonly text: string;
}

/**
 * Converts a due task to a message in a session. The message passes through the normal pipeline, so a crash neither
 * loses nor repeats it, and it waits for the current run.
 */
export function messageAt(place: Place, { eventId, dueAt, text }: Due): MessageEvent {
  return {
    ...place,
    type: "message",
    eventId,
    // A trigger has no platform message that an answer could quote.
    messageId: "",
    timestamp: dueAt,
    addressed: place.conversation.kind === "direct" ? "dm" : "mention",
    text,
    media: [],
    mentions: [],
  };
}
