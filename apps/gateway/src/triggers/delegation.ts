import type { Seats } from "@signalbox/home";
import { formatSessionKey } from "@signalbox/routing";
import { type Role, type TaintSource, taintSourceSchema } from "@signalbox/tools";
import { z } from "zod";
import type { KeyValues } from "./schedule-store.ts";
import { createSubAgents, type SubAgents } from "./sub-agents/sub-agents.ts";
import type { SubAgent, Task, TaskEnd } from "./sub-agents/types.ts";
import { endOfTask, type TaskEndStore } from "./task-end.ts";
import {
  type EmitTrigger,
  messageAt,
  type Place,
  placeSchema,
  type SubAgentTerms,
  type TriggerTerms,
} from "./trigger.ts";
import type { TriggerLogger } from "./types.ts";

/** The origin of a task: its conversation, its rights and the taint of the run. */
export interface TaskOrigin {
  readonly place: Place;
  readonly role: Role;
  readonly taint: readonly TaintSource[];
  /** Terms of the sub-agent that starts the task. Absent if a person's session starts it. */
  readonly within?: SubAgentTerms;
  /** See {@link TriggerTerms.saidFrom}. The results of the task are restricted like its input. */
  readonly saidFrom?: string;
}

const origin: z.ZodType<TaskOrigin> = z.object({
  place: placeSchema,
  role: z.enum(["owner", "member", "guest", "system"]),
  taint: z.array(taintSourceSchema),
  within: z.object({ id: z.string(), depth: z.int(), tools: z.array(z.string()) }).optional(),
  saidFrom: z.string().optional(),
});

type StoredSubAgents = SubAgents<TaskOrigin, readonly TaintSource[]>;

/** Tasks that agents delegate to sub-agents. */
export interface Delegation extends Omit<StoredSubAgents, "start"> {
  /**
   * Sets the function that passes tasks and reports to the pipeline, as messages in the sub-agent's session and its
   * creator's session.
   */
  start(pipeline: DelegationWay): Promise<void>;
}

export interface DelegationOptions {
  readonly store: TaskEndStore & { readonly kv: KeyValues };
  readonly logger: TriggerLogger;
  readonly now: () => number;
  readonly seats: Seats;
}

/** Functions of the pipeline that delegation uses. */
interface DelegationWay {
  readonly trigger: EmitTrigger;
  /** Ends a sub-agent's background commands after its last task. */
  readonly endCommands: (sessionKey: string) => Promise<void>;
}

const NAMESPACE = "subagents";

export function createDelegation({ store, logger, now, seats }: DelegationOptions): Delegation {
  const { kv } = store;
  const subAgents: StoredSubAgents = createSubAgents({
    store: {
      list: async () => (await kv.list(NAMESPACE)).map(({ key: id, value }) => ({ id, value })),
      put: (id, value) => kv.set(NAMESPACE, id, value),
      async remove(id) {
        await kv.delete(NAMESPACE, id);
      },
    },
    origin,
    sessionKey: (agentId, id) => formatSessionKey({ kind: "subagent", agentId, id }),
    logger,
    now,
    isTogether: (agentId, sessionKey, parentKey) =>
      seats.getSeat(agentId, sessionKey) === seats.getSeat(agentId, parentKey),
    isOwn: ({ agentId, parentKey }) => seats.isHere(agentId, parentKey),
  });
  return {
    spawn: (wanted, creator) => subAgents.spawn(wanted, creator),
    send: (id, text, creator) => subAgents.send(id, text, creator),
    of: (sessionKey) => subAgents.of(sessionKey),
    countOpen: () => subAgents.countOpen(),
    ended: (messageId) => subAgents.ended(messageId),
    recover: () => subAgents.recover(),
    stop: () => subAgents.stop(),
    start: ({ trigger, endCommands }) =>
      subAgents.start({
        give: (subAgent, task) =>
          triggerSubAgent(trigger, now(), subAgent, task, taskMessage(subAgent, task)),
        endOf: (messageId, { sessionKey }) => endOfTask(store, messageId, sessionKey),
        async report(subAgent, task, end) {
          // Its other tasks may need the commands.
          if (isLast(subAgent, task)) await endCommands(subAgent.sessionKey);
          return triggerSubAgent(trigger, now(), subAgent, task, reportMessage(subAgent, task, end));
        },
      }),
  };
}

function isLast({ tasks }: SubAgent<TaskOrigin>, { key }: Task<TaskOrigin>): boolean {
  return tasks.every((task) => task.key === key || task.ended !== undefined);
}

interface SubAgentMessage {
  /** Suffix of the event's id, after the sub-agent and the task. The id is the same if the event is repeated. */
  readonly name: "task" | "report";
  readonly text: string;
  readonly sessionKey: string;
  readonly taint: readonly TaintSource[];
  readonly subAgent: SubAgentTerms | undefined;
}

function taskMessage(
  { id, label, sessionKey, depth, tools }: SubAgent<TaskOrigin>,
  { text, origin }: Task<TaskOrigin>,
): SubAgentMessage {
  const subAgent = { id, depth, tools };
  return { name: "task", text: `[Task: ${label}]\n${text}`, sessionKey, taint: origin.taint, subAgent };
}

function reportMessage(
  { id, label, parentKey }: SubAgent<TaskOrigin>,
  { origin }: Task<TaskOrigin>,
  { outcome, text, gained }: TaskEnd<readonly TaintSource[]>,
): SubAgentMessage {
  const head = `[Your sub-agent ${id} (${label}) has ${OUTCOME_TEXTS[outcome]}. This is its report; nobody else has seen it.]`;
  const taint = [...new Set([...origin.taint, ...gained])];
  return { name: "report", text: `${head}\n${text}`, sessionKey: parentKey, taint, subAgent: origin.within };
}

const OUTCOME_TEXTS = {
  done: "finished its task",
  cut: "reached a limit before it finished its task",
  failed: "failed",
  stopped: "been stopped",
} as const;

async function triggerSubAgent(
  trigger: EmitTrigger,
  dueAt: number,
  { id, agentId }: SubAgent<TaskOrigin>,
  { key, chain, origin: { place, role, saidFrom } }: Task<TaskOrigin>,
  { name, text, sessionKey, taint, subAgent }: SubAgentMessage,
): Promise<{ readonly id: string } | "later"> {
  const eventId = `subagent:${id}:${key}:${name}`;
  const terms: TriggerTerms = {
    agentId,
    sessionKey,
    atMost: role,
    delegated: { taint, chain },
    subAgent,
    saidFrom,
  };
  const triggered = await trigger(messageAt(place, { eventId, dueAt, text }), terms);
  // Only the message's tombstone remains, so it ended long ago.
  return triggered.outcome === "rejected" ? "later" : { id: triggered.id ?? eventId };
}
