import type { MessageEvent } from "@signalbox/channel";
import type { Seats } from "@signalbox/home";
import type { Clock } from "@signalbox/lanes";
import { isMemberConversation, parseSessionKey } from "@signalbox/routing";
import { z } from "zod";
import type { Agent, Heartbeat } from "../configure/agents.ts";
import type { LiveConfig } from "../configure/live-config.ts";
import { type Checklist, heartbeatText, isActive } from "./checklist.ts";
import { createPagePlace, type Destination } from "./page-place.ts";
import { createScheduleStore, type KeyValues } from "./schedule-store.ts";
import type { Occurrence, ScheduleStore } from "./schedules/schedule.ts";
import { createScheduler } from "./schedules/scheduler.ts";
import { readWhen, type When } from "./schedules/when.ts";
import { type EmitTrigger, getPlace, messageAt } from "./trigger.ts";
import type { TriggerLogger, TriggerStore } from "./types.ts";

export interface HeartbeatOptions {
  readonly config: LiveConfig;
  readonly store: { readonly kv: KeyValues; readonly inbox: InboxList };
  readonly clock: Clock;
  readonly logger: TriggerLogger;
  /** Returns an agent's checklist, or undefined if it has none. */
  readonly readChecklist: (agent: Agent) => Promise<Checklist | undefined>;
  /** Returns true for channels of the gateway's own clients, on which each member has separate conversations. */
  readonly isOwnChannel: (channel: string) => boolean;
  readonly seats: Seats;
}

type InboxList = Pick<TriggerStore["inbox"], "list">;

/** Functions of the pipeline that heartbeats use. */
interface HeartbeatPipeline {
  readonly trigger: EmitTrigger;
  /** Returns true if a session has unanswered messages. */
  readonly busy: (sessionKey: string) => boolean;
}

/** Triggers each agent with a configured heartbeat to process its checklist. */
export interface Heartbeats {
  start(pipeline: HeartbeatPipeline): Promise<void>;
  /** Call this after the configuration has changed, or after an agent has moved to or from this node. */
  configured(): Promise<void>;
  /** Resolves when no heartbeat is in progress. */
  stop(): Promise<void>;
}

const EVENT_PREFIX = "heartbeat:";

/** Returns true if nobody wrote the message because a heartbeat triggered the agent. */
export function isHeartbeat({ eventId, messageId }: MessageEvent): boolean {
  return messageId === "" && eventId.startsWith(EVENT_PREFIX);
}

/** Contains only the agent's id. Other settings are read from the configuration when the heartbeat is due. */
interface Task {
  readonly agentId: string;
}

const storedTask = z.object({ agentId: z.string() });

/** Creates the store for the next heartbeat times, by agent id. */
export function createHeartbeatStore(
  kv: KeyValues,
  onUnreadable: (agentId: string) => void,
): ScheduleStore<Task> {
  return createScheduleStore(kv, "heartbeats", storedTask, onUnreadable);
}

export function createHeartbeats(ports: HeartbeatOptions): Heartbeats {
  const { config, store, clock, logger, seats } = ports;
  const scheduler = createScheduler<Task>({
    store: createHeartbeatStore(store.kv, (agent) =>
      logger.warn({ agent }, "the time of the last heartbeat cannot be read; its interval starts over"),
    ),
    clock,
    logger,
    isOwn: ({ agentId }) => seats.isHere(agentId),
  });

  const beat = async (
    occurrence: Occurrence<Task>,
    { trigger, busy }: HeartbeatPipeline,
  ): Promise<"taken" | "later"> => {
    const { schedule, dueAt } = occurrence;
    const { agentId } = schedule.task;
    const agent = config.current().agents.at(agentId);
    if (agent?.heartbeat === undefined || !isActive(agent.heartbeat.activeHours, clock.now())) return "taken";
    const checklist = await ports.readChecklist(agent);
    if (checklist === undefined) return "taken";
    const { place, sessionKey } = await placeFor(agent, agent.heartbeat, dueAt, ports);
    // Skip the heartbeat if one is already waiting. Otherwise, heartbeats would pile up behind a long run.
    if (busy(sessionKey)) return "later";
    const eventId = `${EVENT_PREFIX}${agentId}:${dueAt}`;
    const text = heartbeatText(agent.heartbeat, checklist);
    const event = messageAt(place, { eventId, dueAt, text });
    const { outcome } = await trigger(event, { agentId, sessionKey, atMost: "system" });
    return outcome === "rejected" ? "later" : "taken";
  };

  const plan = async (): Promise<void> => {
    const beating = new Map(
      config
        .current()
        .agents.all.flatMap(({ id, heartbeat }) => (heartbeat && seats.isHere(id) ? [[id, heartbeat]] : [])),
    );
    const kept = new Map(scheduler.list().map(({ id, when }) => [id, when]));
    for (const id of kept.keys()) if (!beating.has(id)) await scheduler.remove(id);
    for (const [agentId, { every }] of beating) {
      const when = readWhen({ every }, clock.now());
      // A restart or an unrelated change of the configuration must not postpone a heartbeat.
      if (isAsOften(when, kept.get(agentId))) continue;
      await scheduler.add({ id: agentId, when, missed: "once", task: { agentId } });
    }
  };

  return {
    async start(pipeline) {
      await scheduler.start((occurrence) => beat(occurrence, pipeline));
      await plan();
    },
    async configured() {
      await scheduler.reload();
      await plan();
    },
    stop: () => scheduler.stop(),
  };
}

function isAsOften(wanted: When, kept: When | undefined): boolean {
  return wanted.kind === "every" && kept?.kind === "every" && wanted.everyMs === kept.everyMs;
}

async function placeFor(
  agent: Agent,
  { to }: Heartbeat,
  dueAt: number,
  ports: HeartbeatOptions,
): Promise<Destination> {
  const owners = to === "owner" ? await lastPlaceOfOwner(agent, dueAt, ports) : undefined;
  // Only owners edit HEARTBEAT.md, so the message has an owner's rights.
  return owners ?? createPagePlace(agent.id, "heartbeat");
}

/** Number of recent messages to search for one from an owner. */
const MAX_SEARCHED = 200;

/** Returns the conversation as of the time when the heartbeat was due, so that a retry uses the same one. */
async function lastPlaceOfOwner(
  agent: Agent,
  dueAt: number,
  { store, isOwnChannel }: HeartbeatOptions,
): Promise<Destination | undefined> {
  const rows = await store.inbox.list({ limit: MAX_SEARCHED });
  const last = rows.find(
    ({ receivedAt, route, payload: { event, role } }) =>
      receivedAt <= dueAt &&
      route?.agentId === agent.id &&
      role === "owner" &&
      event.conversation.kind === "direct" &&
      // API clients receive only the answers to their own requests.
      event.channel !== "api" &&
      !isMembers(route.sessionKey, event, isOwnChannel),
  );
  if (last?.route === undefined) return undefined;
  return { place: getPlace(last.payload.event), sessionKey: last.route.sessionKey };
}

/** A member can read the conversations of their token, even if an owner was the last to write there. */
function isMembers(
  sessionKey: string,
  { channel, conversation }: Pick<MessageEvent, "channel" | "conversation">,
  isOwnChannel: HeartbeatOptions["isOwnChannel"],
): boolean {
  const place = { kind: "direct", agentId: "", channel, peerId: conversation.id } as const;
  const session = parseSessionKey(sessionKey);
  return [place, session].some((parts) => parts === undefined || isMemberConversation(parts, isOwnChannel));
}
