import { runFloor } from "./floor.ts";
import { runAgent, runAgentWaiting, runEmitting, runIterated } from "./ours.ts";
import type { Runner } from "./plan.ts";

/** By the names that are printed. */
export const runners: Readonly<Record<string, Runner>> = {
  "bare generator": runFloor,
  Agent: runAgent,
  "Agent, generator": runAgentWaiting,
  runAgentLoop: runEmitting,
  "agentLoop, iterated": runIterated,
};
