import type { StopResult } from "@signalbox/lanes";

/** Access to sub-agents. */
export interface SubAgentsPort {
  /** Returns the sub-agents that a session created. */
  of(sessionKey: string): Promise<
    readonly {
      readonly sessionKey: string;
      readonly tasks: readonly { readonly ended?: string }[];
    }[]
  >;
}

interface StopPorts {
  readonly stop: (sessionKey: string, reason: Error) => StopResult;
  readonly subAgents: SubAgentsPort;
}

/** Stops a session's sub-agents and their descendants. */
export async function stopSubAgents(ports: StopPorts, sessionKey: string, reason: Error): Promise<void> {
  for (const subAgent of await ports.subAgents.of(sessionKey)) {
    await stopSubAgents(ports, subAgent.sessionKey, reason);
    ports.stop(subAgent.sessionKey, reason);
  }
}

/** Returns true if a sub-agent of a session, or a descendant, has an unfinished task. */
export async function hasSubAgentAtWork(subAgents: SubAgentsPort, sessionKey: string): Promise<boolean> {
  for (const { sessionKey: own, tasks } of await subAgents.of(sessionKey))
    if (tasks.some(({ ended }) => ended === undefined) || (await hasSubAgentAtWork(subAgents, own)))
      return true;
  return false;
}
