import { formatSessionKey } from "@signalbox/routing";
import {
  createSubAgents,
  type SubAgent,
  type SubAgents,
  type Task,
  type TaskEnd,
} from "@signalbox/subagents";
import type { Logger } from "@signalbox/telemetry/logger";
import { type Role, type TaintSource, taintSource } from "@signalbox/tools";
import { z } from "zod";
import type { GatewayStore, SubAgentTerms, WakeTerms } from "../store.ts";
import { endOfTask } from "./task-end.ts";
import { keptPlace, messageAt, type Place, type WakeAgent } from "./wake.ts";

/** Whose work a task is: where they are, what they may, and what their run had seen. */
export interface TaskOrigin {
  readonly place: Place;
  readonly role: Role;
  readonly taint: readonly TaintSource[];
  /** Where a sub-agent gives it: on what terms that one is told of the end. */
  readonly within?: SubAgentTerms;
}

const origin: z.ZodType<TaskOrigin> = z.object({
  place: keptPlace,
  role: z.enum(["owner", "member", "guest", "system"]),
  taint: z.array(taintSource),
  within: z.object({ id: z.string(), depth: z.int(), tools: z.array(z.string()) }).exactOptional(),
});

export type GatewaySubAgents = SubAgents<TaskOrigin, readonly TaintSource[]>;

const NAMESPACE = "subagents";

export interface SubAgentPorts {
  readonly store: Pick<GatewayStore, "kv">;
  readonly logger: Logger;
  readonly now: () => number;
}

/** The sub-agents of every agent, in the gateway's store. */
export function createGatewaySubAgents({ store: { kv }, logger, now }: SubAgentPorts): GatewaySubAgents {
  return createSubAgents({
    store: {
      list: async () => (await kv.list(NAMESPACE)).map(({ key: id, value }) => ({ id, value })),
      put: (id, value) => kv.set(NAMESPACE, id, z.json().parse(value)),
      async remove(id) {
        await kv.delete(NAMESPACE, id);
      },
    },
    origin,
    sessionKey: (agentId, id) => formatSessionKey({ kind: "subagent", agentId, id }),
    logger,
    now,
  });
}

export interface SubAgentWay {
  readonly store: Pick<GatewayStore, "inbox" | "runs" | "sessions">;
  readonly wake: WakeAgent;
  /** What a sub-agent has in the background ends with its task. */
  readonly endCommands: (sessionKey: string) => Promise<void>;
  readonly now: () => number;
}

/** Has tasks and reports go the way of every message: to the sub-agent's session, and back to the one that made it. */
export function startSubAgents(subAgents: GatewaySubAgents, way: SubAgentWay): Promise<void> {
  return subAgents.start({
    give: (subAgent, task) => wakeWith(way, subAgent, task, taskMessage(subAgent, task)),
    endOf: (messageId, { sessionKey }) => endOfTask(way.store, messageId, sessionKey),
    async report(subAgent, task, end) {
      await way.endCommands(subAgent.sessionKey);
      return wakeWith(way, subAgent, task, reportMessage(subAgent, task, end));
    },
  });
}

interface Said {
  /** Behind the names of the sub-agent and the task: what makes it the same message each time. */
  readonly name: "task" | "report";
  readonly text: string;
  readonly sessionKey: string;
  readonly taint: readonly TaintSource[];
  readonly subAgent: SubAgentTerms | undefined;
}

function taskMessage(
  { id, label, sessionKey, depth, tools }: SubAgent<TaskOrigin>,
  { text, origin }: Task<TaskOrigin>,
): Said {
  const subAgent = { id, depth, tools };
  return { name: "task", text: `[Task: ${label}]\n${text}`, sessionKey, taint: origin.taint, subAgent };
}

function reportMessage(
  { id, label, parentKey }: SubAgent<TaskOrigin>,
  { origin }: Task<TaskOrigin>,
  { outcome, text, gained }: TaskEnd<readonly TaintSource[]>,
): Said {
  const head = `[Your sub-agent ${id} (${label}) has ${WORDS[outcome]}. This is its report; nobody else has seen it.]`;
  const taint = [...new Set([...origin.taint, ...gained])];
  return { name: "report", text: `${head}\n${text}`, sessionKey: parentKey, taint, subAgent: origin.within };
}

const WORDS = { done: "done its task", failed: "failed", stopped: "been stopped" } as const;

async function wakeWith(
  { wake, now }: SubAgentWay,
  { id, agentId }: SubAgent<TaskOrigin>,
  { key, chain, origin: { place, role } }: Task<TaskOrigin>,
  { name, text, sessionKey, taint, subAgent }: Said,
): Promise<{ readonly id: string } | "later"> {
  const eventId = `subagent:${id}:${key}:${name}`;
  const terms: WakeTerms = {
    agentId,
    sessionKey,
    atMost: role,
    delegated: { taint, chain },
    ...(subAgent === undefined ? {} : { subAgent }),
  };
  const woken = await wake(messageAt(place, { eventId, dueAt: now(), text }), terms);
  // What only a tombstone is left of has had its end long ago.
  return woken.outcome === "rejected" ? "later" : { id: woken.id ?? eventId };
}
