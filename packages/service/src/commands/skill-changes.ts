import type { Auditor } from "@signalbox/audit";
import type { Agent, AgentsSkills } from "@signalbox/setup";
import { describePending, type PendingSkill, shortDigest } from "@signalbox/skills";
import { visibleText } from "@signalbox/tools";

export interface SkillChangesPorts {
  readonly skillApprovals: Pick<AgentsSkills, "pending" | "approve">;
  readonly audit: Pick<Auditor, "skill">;
}

/** A chat shows so much of a change, in UTF-16 units; what is longer is shown and approved on the command line. */
const MOST_SHOWN = 8_000;

/** `/skills`: what waits for an owner, with what changed. `/skills approve <name> <hash>` approves what was shown. */
export async function answerSkills(
  { skillApprovals, audit }: SkillChangesPorts,
  agent: Agent,
  args: string,
  approver: string,
): Promise<string> {
  const pending = await skillApprovals.pending(agent);
  const [verb = "", name = "", hash = ""] = args.split(/\s+/);
  if (verb === "")
    return pending.length === 0 ? "No skill waits for an owner." : pending.map(inChat).join("\n\n");
  const wanted = pending.find(({ skill }) => skill.id === name.toLowerCase());
  if (verb !== "approve" || name === "") return "Say: /skills, or /skills approve <name> <hash>.";
  if (wanted === undefined) return `No skill ${name} waits for an owner.`;
  if (wanted.diff.length > MOST_SHOWN || hash !== shortDigest(wanted)) return inChat(wanted);
  if (!(await skillApprovals.approve(wanted, approver))) return `${name} has changed again: /skills`;
  audit.skill(wanted, approver);
  return `Approved: the skill ${wanted.skill.id} as it is now.`;
}

function inChat(pending: PendingSkill): string {
  const { skill, diff } = pending;
  if (diff.length > MOST_SHOWN)
    return `The skill ${skill.id} waits for an owner. What changed is too long for a chat: \`signalbox skills changes\` shows it.`;
  const [first = "", ...rest] = describePending(pending, visibleText);
  const longest = Math.max(2, ...[...diff.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return [first, fence, ...rest, fence, `/skills approve ${skill.id} ${shortDigest(pending)}`].join("\n");
}
