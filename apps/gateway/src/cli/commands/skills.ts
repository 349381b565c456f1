import { GatewayError, hasDatabase } from "@signalbox/home";
import {
  describePending,
  type PendingSkill,
  type PinStore,
  type Skill,
  type Skills,
  type SkillsCheck,
  shortDigest,
} from "@signalbox/skills";
import { escapeInvisible, escapeLine } from "@signalbox/tools";
import { resolveAgents } from "../../configure/agents.ts";
import { resolveSkills } from "../../configure/skills.ts";
import type { CommonOptions } from "../common-options.ts";
import { configuredHome } from "../configured-home.ts";
import { withSkillPins } from "../home-pins.ts";
import { withStore } from "../home-store.ts";
import type { ConfiguredHome, GatewayHost } from "../host.ts";
import { print } from "../output.ts";
import { printTable, short } from "../table.ts";

/** The skills that an agent can use, and problems with the others. */
interface SkillsOfAgent {
  readonly agent: string;
  readonly usable: readonly Skill[];
  readonly check: SkillsCheck;
  /** New or changed skills that are waiting for an owner's approval. */
  readonly pending: readonly PendingSkill[];
  readonly approve: Skills["approve"];
}

function readSkills(configured: ConfiguredHome, host: GatewayHost): Promise<SkillsOfAgent[]> {
  return withSkillPins(configured.home, "read", (pins) => readSkillsWith(pins, configured, host));
}

async function readSkillsWith(
  pins: PinStore | undefined,
  { home, loaded, env }: ConfiguredHome,
  { skillsDir: bundledDir }: GatewayHost,
): Promise<SkillsOfAgent[]> {
  const agents = resolveAgents(loaded, home);
  const resolved = await resolveSkills({ loaded, home, agents, env, bundledDir, pins });
  const { approve } = resolved;
  return Promise.all(
    agents.shards.map(async (agent) => {
      const { skills: usable } = await resolved.forAgent(agent);
      const check = await resolved.check(agent);
      return { agent: agent.shardId, usable, check, pending: await resolved.pending(agent), approve };
    }),
  );
}

const DESCRIPTION_CHARS = 80;

/** `signalbox skills list`: lists the usable skills of each agent. */
export async function list(options: CommonOptions, host: GatewayHost): Promise<void> {
  const rows = (await readSkills(configuredHome(options), host)).flatMap(({ agent, usable }) =>
    usable.map(({ id, description, source, file, version }) => {
      return { agent, id, description, source, file, version };
    }),
  );
  printTable(options.json, rows, {
    none: "No agent can use a skill. `signalbox skills check` shows the skills that cannot be used.",
    columns: {
      AGENT: ({ agent }) => agent,
      SKILL: ({ id }) => id,
      FROM: ({ source }) => source,
      DESCRIPTION: ({ description }) => short(description, DESCRIPTION_CHARS),
    },
  });
}

/** `signalbox skills check`: lists unusable skills with the reasons. The exit code is 1 if there is a problem. */
export async function check(options: CommonOptions, host: GatewayHost): Promise<void> {
  const skills = await readSkills(configuredHome(options), host);
  const reports = skills.map(({ agent, check }) => ({ agent, ...check }));
  print(options.json, reports, () =>
    reports.flatMap(({ agent, skills: found, problems, unknown }) => [
      ...found.map(({ skill, eligible, reasons }) =>
        eligible
          ? `ok    ${agent}  ${skill.id}`
          : `out   ${agent}  ${skill.id}: ${reasons.map((one) => one.message).join(" ")}`,
      ),
      ...problems.map(
        ({ severity, path, line, message, remedy }) =>
          `${severity.padEnd(5)} ${path}${line === undefined ? "" : `:${line}`}: ${message} ${remedy}`,
      ),
      ...unknown.map((name) => `error ${agent} refers to the skill ${name}, which does not exist`),
    ]),
  );
  if (reports.some((one) => !one.ok)) throw new GatewayError("failure", "Some skills cannot be used.");
}

/** `signalbox skills changes`: shows new and changed skills that are waiting for an owner, with a diff. */
export async function changes(options: CommonOptions, host: GatewayHost): Promise<void> {
  const waiting = oncePerFolder(await readSkills(configuredHome(options), host));
  const shown = waiting.map(({ agent, pending: { skill, digest, change, diff } }) => {
    return { agent, id: skill.id, dir: skill.dir, digest, ...change, diff };
  });
  print(options.json, shown, () =>
    waiting.length === 0
      ? ["No skill needs approval."]
      : waiting.flatMap(({ pending }) => [
          ...describePending(pending, { text: escapeInvisible, line: escapeLine }),
          `To approve exactly this: \`signalbox skills approve ${pending.skill.id} --hash ${shortDigest(pending)}\``,
        ]),
  );
}

/**
 * `signalbox skills approve <name> --hash <hash>`: approves the version that `changes` showed. A running gateway then
 * uses it.
 */
export async function approve(
  name: string,
  options: CommonOptions & { readonly hash: string },
  host: GatewayHost,
): Promise<void> {
  const configured = configuredHome(options);
  const wanted = await withSkillPins(configured.home, "share", async (pins) => {
    const found = oncePerFolder(await readSkillsWith(pins, configured, host)).find(
      ({ pending }) => pending.skill.id === name && shortDigest(pending) === options.hash,
    );
    return found !== undefined && (await found.approve(found.pending, OPERATOR)) ? found : undefined;
  });
  if (wanted === undefined)
    throw new GatewayError(
      "failure",
      `No skill ${name} with the hash ${options.hash} needs approval. \`signalbox skills changes\` shows those that do.`,
    );
  const { skill, digest } = wanted.pending;
  if (await hasDatabase(configured.home))
    await withStore(options, "share", ({ audit }) =>
      audit.append({
        at: Date.now(),
        kind: "approval",
        action: "allowed",
        actor: OPERATOR,
        subject: `skill: ${skill.id}`,
        details: { digest, folder: skill.dir },
      }),
    );
  print(options.json, { id: name, digest }, () => [`Approved the skill ${name} as it is now.`]);
}

const OPERATOR = "command line";

/** Agents may share skills. Each one is listed once. */
function oncePerFolder(agents: readonly SkillsOfAgent[]) {
  const folders = new Map(
    agents
      .flatMap(({ agent, pending, approve }) => pending.map((one) => ({ agent, pending: one, approve })))
      .map((each) => [each.pending.skill.dir, each]),
  );
  return [...folders.values()];
}
