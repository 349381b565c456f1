import { existsSync } from "node:fs";
import { formatProblem } from "@signalbox/config";
import { type Home, openVault, readConfig } from "@signalbox/home";
import { messageOf } from "../errors.ts";
import type { GatewayHost } from "../host.ts";
import { type Finding, look } from "./finding.ts";

/** Searches for something, as a run would, so that it is known to work. */
async function memoryOf(home: Home, agent: string, host: GatewayHost): Promise<string> {
  if (!existsSync(home.memoryIndex(agent))) return "made at the first message";
  const { describeStatus, withMemory } = await import("../commands/memory.ts");
  return withMemory({ home: home.dir, agent }, host, async (memory) => {
    const { mode } = await memory.search("doctor", { reader: "all", limit: 1 });
    const status = await memory.status();
    const now = status.vectors === undefined || mode.kind !== "words" ? "" : `; now by words: ${mode.reason}`;
    return `${describeStatus(status)}${now}`;
  });
}

function changedSkills(agent: string, names: readonly string[]): Finding[] {
  if (names.length === 0) return [];
  const detail = `new or changed, and not used until an owner approves: ${names.join(", ")}; \`signalbox skills changes\` shows them`;
  return [{ part: `skills of ${agent}`, state: "warning", detail }];
}

/** What a gateway would make of the configuration here, and whether it could work with it. */
export async function lookAtConfiguration(home: Home, host: GatewayHost): Promise<Finding[]> {
  try {
    const loaded = readConfig(home, process.env);
    const vault = openVault(loaded, process.env);
    const prepared = await host.prepare({ home, loaded, env: process.env }, vault, "silent");
    const findings = prepared.problems.map((problem): Finding => {
      return { part: "configuration", state: problem.severity, detail: formatProblem(problem) };
    });
    if (prepared.isDemo)
      findings.push({
        part: "models",
        state: "warning",
        detail: "no key is set: the offline demo model answers",
      });
    if (loaded.config.memory.enabled && existsSync(home.databaseFile))
      for (const id of prepared.agentIds)
        findings.push(await look(`memory of ${id}`, () => memoryOf(home, id, host)));
    for (const id of prepared.agentIds) findings.push(...changedSkills(id, await prepared.changedSkills(id)));
    findings.push(await look("policy", async () => prepared.describeReach()));
    findings.push(await look("exec", () => prepared.describeExec()));
    return findings;
  } catch (error) {
    return [{ part: "configuration", state: "error", detail: messageOf(error) }];
  }
}
