import { existsSync } from "node:fs";
import { reasonOf } from "@signalbox/agent-core";
import { ConfigError, formatProblem, type Problem } from "@signalbox/config";
import { type Home, hasDatabase, openVault, readConfig } from "@signalbox/home";
import type { PendingSkill } from "@signalbox/skills";
import { IMAGES_NOT_RESIZED } from "../../agent/images.ts";
import { S3_REMEDY, tryBucket } from "../../configure/objects.ts";
import { openSubscriptions } from "../../configure/subscriptions/credentials.ts";
import { withSkillPins } from "../home-pins.ts";
import type { GatewayHost } from "../host.ts";
import { checkBrowser } from "./browser.ts";
import { type Finding, runCheck } from "./finding.ts";
import { checkReach, describeExec } from "./policy.ts";
import { checkSignIn } from "./sign-in.ts";
import { checkSubscriptions } from "./subscriptions.ts";

/** Searches the memory once to verify that it works. */
async function checkMemory(home: Home, agent: string): Promise<string> {
  if (!existsSync(home.memoryIndex(agent))) return "will be created with the first message";
  const { describeStatus, withMemory } = await import("../home-memory.ts");
  return withMemory({ home: home.dir, agent }, async (memory) => {
    const { mode } = await memory.search("doctor", { reader: "all", limit: 1 });
    const status = await memory.status();
    const now =
      status.vectors === undefined || mode.kind !== "words"
        ? ""
        : `; currently keywords only: ${mode.reason}`;
    return `${describeStatus(status)}${now}`;
  });
}

function changedSkills(agent: string, pending: readonly PendingSkill[]): Finding[] {
  if (pending.length === 0) return [];
  const names = pending.map(({ skill }) => skill.id);
  const detail = `not used until an owner approves them, because they are new or changed: ${names.join(", ")}; see \`signalbox skills changes\``;
  return [{ part: `skills of ${agent}`, state: "warning", detail }];
}

function describeImages({ packages }: GatewayHost): string {
  return packages.missing(["sharp"]).length === 0 ? "resized to what models accept" : IMAGES_NOT_RESIZED;
}

/** Checks whether a gateway could start with the configuration. */
export async function checkConfiguration(home: Home, host: GatewayHost): Promise<Finding[]> {
  const findings: Finding[] = [];
  try {
    const loaded = readConfig(home, process.env);
    const vault = openVault(loaded, process.env);
    const { setup } = await host.prepare({ home, loaded, env: process.env }, vault, { level: "silent" });
    const { agents, models, skills } = setup;
    findings.push(...setup.problems.map(toFinding));
    if (models.demo)
      findings.push({
        part: "models",
        state: "warning",
        detail: "no key is set, so the offline demo model answers",
      });
    const { blobs } = loaded.config.store;
    if (blobs !== undefined) findings.push(await runCheck("files", () => tryBucket(blobs), S3_REMEDY));
    if (loaded.config.memory.enabled && (await hasDatabase(home)))
      for (const { id } of agents.all)
        findings.push(await runCheck(`memory of ${id}`, () => checkMemory(home, id)));
    await withSkillPins(home, "read", async (pins) => {
      if (pins !== undefined) skills.usePins(pins);
      for (const agent of agents.all) findings.push(...changedSkills(agent.id, await skills.pending(agent)));
    });
    findings.push(...(await checkSignIn(loaded.config)));
    findings.push(...(await checkSubscriptions(loaded.config, openSubscriptions(home, vault), Date.now())));
    findings.push(await runCheck("pictures", async () => describeImages(host)));
    findings.push(await runCheck("policy", async () => checkReach(agents)));
    findings.push(...(await checkBrowser(loaded.config, home, host.packages)));
    findings.push(await runCheck("exec", () => describeExec(loaded.config, agents, home)));
  } catch (error) {
    if (error instanceof ConfigError) findings.push(...error.problems.map(toFinding));
    else findings.push({ part: "configuration", state: "error", detail: reasonOf(error) });
  }
  return findings;
}

function toFinding(problem: Problem): Finding {
  return { part: "configuration", state: problem.severity, detail: formatProblem(problem) };
}
