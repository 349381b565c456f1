import { createHash } from "node:crypto";
import {
  isOtherSession,
  matchesAny,
  readSessionTaint,
  type SessionsCall,
  type SessionsRequest,
  TOOL_GROUPS,
} from "@signalbox/tools";
import type { Delegation, TaskOrigin } from "./delegation.ts";
import { formatHistory } from "./format-history.ts";
import type { OtherSessions } from "./other-sessions.ts";
import type { SubAgent, TaskCreator } from "./sub-agents/types.ts";
import { getPlace } from "./trigger.ts";
import type { TriggeringRun, TriggerStore } from "./types.ts";

type Run = TriggeringRun & { readonly offered: readonly string[] };

/** Tools that work only in sessions with people. */
const NOT_FOR_SUB_AGENTS = ["cron", "ask_user", ...(TOOL_GROUPS["memory"] ?? [])];

/**
 * Creates the handler for the sessions tools. An agent can access the sub-agent sessions that it created, and other
 * sessions if this is allowed.
 */
export function createSessionsHandler(
  subAgents: Delegation,
  others: Pick<OtherSessions, "send" | "list" | "history">,
  { sessions }: TriggerStore,
) {
  const ofRun = async (id: string, { sessionKey }: Run): Promise<SubAgent<TaskOrigin>> => {
    const own = (await subAgents.of(sessionKey)).find((subAgent) => subAgent.id === id);
    if (own !== undefined) return own;
    throw new Error(`There is no sub-agent ${id} of yours. sessions_list shows them.`);
  };

  const history = async (id: string, limit: number, run: Run, call: SessionsCall): Promise<string> => {
    const { sessionKey } = await ofRun(id, run);
    const session = await sessions.get(sessionKey);
    for (const source of readSessionTaint(session?.data)?.sources ?? [])
      call.run.taint({ source, detail: `sub-agent ${id}` });
    return formatHistory(await sessions.history(sessionKey, { limit }));
  };

  return async (request: SessionsRequest, run: Run, call: SessionsCall): Promise<string> => {
    switch (request.action) {
      case "spawn": {
        const tools = toolsFor(run, request.tools);
        const { task: text, label = firstWords(text) } = request;
        const { id } = await subAgents.spawn({ label, text, tools }, toTaskCreator(run, call));
        return `Sub-agent ${id} (${label}) is working on it. Its result will arrive as a message; do not wait for it.`;
      }
      case "send":
        if (isOtherSession(request.session)) return others.send(request.session, request.message, run, call);
        await subAgents.send(request.session, request.message, toTaskCreator(run, call));
        return `Sent to ${request.session}. Its result will arrive as a message.`;
      case "list":
        return request.others ? others.list(run, call) : describe(await subAgents.of(run.sessionKey));
      case "history":
        if (isOtherSession(request.session)) return others.history(request.session, request.limit, run, call);
        return history(request.session, request.limit, run, call);
    }
  };
}

function toTaskCreator(run: Run, { callId, run: { facts } }: SessionsCall): TaskCreator<TaskOrigin> {
  const { agent, sessionKey, runId, messageId, event, trigger } = run;
  const taint = [...new Set(facts.taint.map(({ source }) => source))];
  const within = trigger?.subAgent;
  const saidFrom = trigger?.saidFrom;
  return {
    agentId: agent.id,
    sessionKey,
    depth: within?.depth ?? 0,
    chain: trigger?.delegated?.chain ?? messageId,
    origin: {
      place: getPlace(event),
      role: facts.role,
      taint,
      within,
      saidFrom,
    },
    limits: agent.subAgents,
    // The id is the same if the call is repeated after a crash.
    key: createHash("sha256").update(`${runId} ${callId}`).digest("hex").slice(0, 16),
  };
}

/** Returns the tools for a sub-agent, which are at most the tools of the run itself. */
function toolsFor(
  { agent, offered, trigger }: Run,
  wanted: readonly string[] | undefined,
): readonly string[] {
  const unknown = (wanted ?? []).filter((name) => !offered.some((tool) => matchesAny([name], tool)));
  if (unknown.length > 0) throw new Error(`You have no tools called ${unknown.join(", ")}.`);
  const isLast = (trigger?.subAgent?.depth ?? 0) + 1 >= agent.subAgents.maxDepth;
  const kept = [...NOT_FOR_SUB_AGENTS, ...(isLast ? (TOOL_GROUPS["sessions"] ?? []) : [])];
  return offered.filter((tool) => !kept.includes(tool) && (wanted === undefined || matchesAny(wanted, tool)));
}

function firstWords(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length <= 60 ? line : `${line.slice(0, 59)}…`;
}

function describe(subAgents: readonly SubAgent<TaskOrigin>[]): string {
  if (subAgents.length === 0) return "You have no sub-agents.";
  return subAgents
    .map(({ id, label, tasks }) => {
      const open = tasks.filter(({ ended }) => ended === undefined).length;
      const ends = tasks.flatMap(({ ended }) => ended ?? []);
      const state = open > 0 ? `working on ${open} of ${tasks.length}` : ends.join(", ");
      return `${id} (${label}): ${state}`;
    })
    .join("\n");
}
