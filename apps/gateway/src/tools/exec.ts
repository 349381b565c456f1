import type { Config } from "@signalbox/config";
import type { Agents } from "@signalbox/setup";
import { allowsTool, describeSandbox, type Sandbox, startSandbox } from "@signalbox/tools";

/** Where commands of agents run, proven; rejects where they cannot. */
export function execSandbox(config: Config): Promise<Sandbox> {
  const { sandbox, timeoutMs } = config.tools.exec;
  return startSandbox({ setting: sandbox === "bubblewrap" ? "default" : sandbox, limits: { timeoutMs } });
}

/** The same in words, for `doctor`. */
export async function describeExec(config: Config, agents: Agents): Promise<string> {
  const users = agents.all.filter((agent) => allowsTool(agent.tools, "exec")).map((agent) => agent.id);
  if (users.length === 0) return "no agent may run commands";
  const { ok, summary, notes } = describeSandbox(await execSandbox(config));
  const reached = agents.all.flatMap(({ id, tools: { domains } }) =>
    domains.length === 0 ? [] : [`Commands of ${id} may ask for ${domains.join(", ")}.`],
  );
  const text = [summary, ...reached, ...notes, `Agents that may run commands: ${users.join(", ")}.`].join(
    " ",
  );
  if (!ok) throw new Error(text);
  return text;
}
