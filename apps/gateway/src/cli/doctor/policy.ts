import type { Config } from "@signalbox/config";
import type { Home } from "@signalbox/home";
import { allowsTool, checkPolicy, describeSandbox } from "@signalbox/tools";
import type { Agents } from "../../configure/agents.ts";
import { execSandbox } from "../../configure/exec-sandbox.ts";

/**
 * Checks for every agent that untrusted senders cannot reach tools that act.
 *
 * @throws Error that lists the reachable tools
 */
export function checkReach({ all }: Agents): string {
  let checked = 0;
  const reached = all.flatMap(({ id, tools }) => {
    const check = checkPolicy(tools);
    checked += check.checked;
    return check.unsafe.map(({ tool, role, channelKind, claim }) => {
      const how = claim === undefined ? "" : ` (${claim})`;
      return `${role} of ${id} in a ${channelKind} conversation: ${tool}${how}`;
    });
  });
  if (reached.length > 0) throw new Error(`reached unasked: ${[...new Set(reached)].join("; ")}`);
  return `guests can neither run commands nor write files, and runs with untrusted content need an approval for the network, the agent's notes and other conversations (${checked} cases checked)`;
}

/**
 * Describes the environment in which agents' commands run.
 *
 * @throws Error if commands are enabled but cannot run
 */
export async function describeExec(config: Config, agents: Agents, { programsDir }: Home): Promise<string> {
  const users = agents.all.filter((agent) => allowsTool(agent.tools, "exec")).map((agent) => agent.id);
  if (users.length === 0) return "no agent can run commands";
  const { ok, summary, notes } = describeSandbox(await execSandbox(config, programsDir));
  const reached = agents.all.flatMap(({ id, tools: { domains } }) =>
    domains.length === 0 ? [] : [`Commands of ${id} may request ${domains.join(", ")}.`],
  );
  const text = [summary, ...reached, ...notes, `Agents that can run commands: ${users.join(", ")}.`].join(
    " ",
  );
  if (!ok) throw new Error(text);
  return text;
}
