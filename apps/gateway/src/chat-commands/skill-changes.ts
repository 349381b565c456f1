import type { Phrases } from "@signalbox/phrases";
import { describePending, type PendingSkill, shortDigest } from "@signalbox/skills";
import type { Auditor } from "@signalbox/store/audit";
import { codeBlock, visibleLine, visibleText } from "@signalbox/tools";
import type { Agent } from "../configure/agents.ts";
import type { AgentsSkills } from "../configure/skills.ts";

export interface SkillChangesPorts {
  readonly skillApprovals: Pick<AgentsSkills, "pending" | "approve">;
  readonly audit: Pick<Auditor, "skill">;
}

/** A chat shows so much of a change, in UTF-16 units; what is longer is shown and approved on the command line. */
const MOST_SHOWN = 8_000;

/** `/skills`: what waits for an owner, with what changed. `/skills approve <name> <hash>` approves what was shown. */
export async function answerSkills(
  { skillApprovals, audit }: SkillChangesPorts,
  { agent, args, phrases }: { readonly agent: Agent; readonly args: string; readonly phrases: Phrases },
  approver: string,
): Promise<string> {
  const pending = await skillApprovals.pending(agent);
  const [verb = "", name = "", hash = ""] = args.split(/\s+/);
  if (verb === "")
    return pending.length === 0
      ? phrases.noSkillWaits
      : pending.map((each) => inChat(each, phrases)).join("\n\n");
  const wanted = pending.find(({ skill }) => skill.id === name.toLowerCase());
  if (verb !== "approve" || name === "") return phrases.sayOfSkills;
  if (wanted === undefined) return phrases.thisSkillWaitsNot(name);
  if (wanted.diff.length > MOST_SHOWN || hash !== shortDigest(wanted)) return inChat(wanted, phrases);
  if (!(await skillApprovals.approve(wanted, approver))) return phrases.skillChangedAgain(name);
  audit.skill(wanted, approver);
  return phrases.skillApproved(wanted.skill.id);
}

function inChat(pending: PendingSkill, phrases: Phrases): string {
  const { skill, diff } = pending;
  if (diff.length > MOST_SHOWN) return phrases.skillTooLong(skill.id);
  const lines = describePending(pending, { text: visibleText, line: visibleLine });
  return `${codeBlock(lines.join("\n"))}\n/skills approve ${skill.id} ${shortDigest(pending)}`;
}
