import { GatewayError, locateHome, readConfig } from "@signalbox/home";
import { type Agents, resolveAgents } from "../resolve/agents.ts";
import { type AgentsSkills, resolveSkills } from "../resolve/skills.ts";
import type { CommonOptions } from "./common-options.ts";
import { print } from "./output.ts";
import { configOrExit } from "./start.ts";

async function skillsOf(options: CommonOptions): Promise<{ skills: AgentsSkills; agents: Agents }> {
  const home = locateHome(options.home, process.env);
  const loaded = configOrExit(() => readConfig(home, process.env));
  const agents = resolveAgents(loaded, home);
  return { skills: await resolveSkills({ loaded, home, agents, env: process.env }), agents };
}

/** `signalbox skills list`: what each agent can use. */
export async function list(options: CommonOptions): Promise<void> {
  const { skills, agents } = await skillsOf(options);
  const rows: {
    agent: string;
    id: string;
    description: string;
    source: string;
    file: string;
    version: string;
  }[] = [];
  for (const agent of agents.all) {
    const { skills: usable } = await skills.forAgent(agent);
    for (const { id, description, source, file, version } of usable)
      rows.push({ agent: agent.id, id, description, source, file, version });
  }
  print(options.json, rows, () =>
    rows.map((row) => `${row.agent}  ${row.id} (${row.source})  ${row.description}`),
  );
}

/** `signalbox skills check`: what cannot be used, and why; exit code 1 when something is wrong. */
export async function check(options: CommonOptions): Promise<void> {
  const { skills, agents } = await skillsOf(options);
  const reports = await Promise.all(
    agents.all.map(async (agent) => {
      const { allow, deny } = agent.skills;
      const report = await skills.skills.check({ allow, deny, workspaceDir: agent.workspaceDir });
      return { agent: agent.id, ...report };
    }),
  );
  print(options.json, reports, () =>
    reports.flatMap(({ agent, skills: found, problems, unknown }) => [
      ...found.map(({ skill, eligible, reasons }) =>
        eligible
          ? `ok    ${agent}  ${skill.id}`
          : `out   ${agent}  ${skill.id}: ${reasons.map((one) => one.message).join(" ")}`,
      ),
      ...problems.map((problem) => `${problem.severity.padEnd(5)} ${problem.path}: ${problem.message}`),
      ...unknown.map((name) => `error ${agent} names the skill ${name}, which does not exist`),
    ]),
  );
  if (reports.some((one) => !one.ok)) throw new GatewayError("failure", "Some skills are wrong.");
}
