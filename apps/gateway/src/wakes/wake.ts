import type { MessageEvent } from "@signalbox/channel";
import type { Occurrence, ScheduleStore } from "@signalbox/schedules";
import { z } from "zod";
import type { GatewayStore } from "../store.ts";

/** A conversation as a message in it shows it, and who had the agent woken there. */
type Place = Pick<MessageEvent, "channel" | "account" | "botId" | "conversation" | "address" | "sender">;

/** What an agent is to be told, and where. Whoever asked for it speaks: what they may not do by then is not done. */
export interface Wake {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly text: string;
  readonly place: Place;
}

const keptPlace = z.object({
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
});

const kept = z.object({
  when: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("at"), at: z.number() }),
    z.object({ kind: z.literal("every"), everyMs: z.number().positive(), from: z.number() }),
    z.object({ kind: z.literal("cron"), expression: z.string(), zone: z.string().exactOptional() }),
  ]),
  missed: z.enum(["once", "skip"]),
  nextAt: z.number(),
  lastAt: z.number().exactOptional(),
  task: z.object({ agentId: z.string(), sessionKey: z.string(), text: z.string(), place: keptPlace }),
});

const NAMESPACE = "schedules";

/** Wakes in the gateway's store. What cannot be read is left where it is, and does not come. */
export function createWakeStore(
  kv: GatewayStore["kv"],
  onUnreadable: (id: string) => void,
): ScheduleStore<Wake> {
  return {
    async list() {
      const entries = await kv.list(NAMESPACE);
      return entries.flatMap(({ key: id, value }) => {
        const read = kept.safeParse(value);
        if (!read.success) onUnreadable(id);
        return read.success ? [{ id, ...read.data }] : [];
      });
    },
    put: ({ id, ...rest }) => kv.set(NAMESPACE, id, kept.parse(rest)),
    async remove(id) {
      await kv.delete(NAMESPACE, id);
    },
  };
}

/** The place of a message, as far as an answer to it and the gate need it. */
export function placeOf({
  channel,
  account,
  botId,
  conversation,
  address,
  sender,
}: MessageEvent): Wake["place"] {
  return keptPlace.parse({
    ...{ channel, account, conversation, address, sender },
    ...(botId === undefined ? {} : { botId }),
  });
}

/**
 * An occurrence as a message of its conversation. It goes the way of every other, so that a stop or a crash neither loses
 * nor repeats it: the same occurrence is the same event.
 */
export function wakeMessage({ schedule: { id, task }, dueAt }: Occurrence<Wake>): MessageEvent {
  return {
    ...task.place,
    type: "message",
    eventId: `schedule:${id}:${dueAt}`,
    // As that of a platform's own command: there is none that an answer could quote.
    messageId: "",
    timestamp: dueAt,
    addressed: task.place.conversation.kind === "direct" ? "dm" : "mention",
    text: `[It is time for what was scheduled as ${id}]\n${task.text}`,
    media: [],
    mentions: [],
    turn: { agent: task.agentId, verbatim: true },
  };
}
