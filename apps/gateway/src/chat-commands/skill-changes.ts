import type { Phrases } from "@signalbox/phrases";
import { describePending, type PendingSkill, shortDigest } from "@signalbox/skills";
import { escapeInvisible, escapeLine, formatCodeBlock } from "@signalbox/tools";
import type { Agent } from "../configure/agents.ts";
import type { GatewayContext } from "../context.ts";

/**
 * Maximum length of a change that is shown in a chat, in UTF-16 code units. Longer changes are approved on the command
 * line.
 */
const MAX_SHOWN = 8_000;

/**
 * `/skills` lists new and changed skills that are waiting for an owner. `/skills approve <name> <hash>` approves the
 * version shown.
 */
export async function answerSkills(
  { config, audit }: GatewayContext,
  { agent, args, phrases }: { readonly agent: Agent; readonly args: string; readonly phrases: Phrases },
  approver: string,
): Promise<string> {
  const { skills } = config.current();
  const pending = await skills.pending(agent);
  const [verb = "", name = "", hash = ""] = args.split(/\s+/);
  if (verb === "")
    return pending.length === 0
      ? phrases.noSkillWaits
      : pending.map((each) => inChat(each, phrases)).join("\n\n");
  const wanted = pending.find(({ skill }) => skill.id === name.toLowerCase());
  if (verb !== "approve" || name === "") return phrases.sayOfSkills;
  if (wanted === undefined) return phrases.thisSkillWaitsNot(name);
  if (wanted.diff.length > MAX_SHOWN || hash !== shortDigest(wanted)) return inChat(wanted, phrases);
  if (!(await skills.approve(wanted, approver))) return phrases.skillChangedAgain(name);
  audit.skill(wanted, approver);
  return phrases.skillApproved(wanted.skill.id);
}

function inChat(pending: PendingSkill, phrases: Phrases): string {
  const { skill, diff } = pending;
  if (diff.length > MAX_SHOWN) return phrases.skillTooLong(skill.id);
  const lines = describePending(pending, { text: escapeInvisible, line: escapeLine });
  return `${formatCodeBlock(lines.join("\n"))}\n/skills approve ${skill.id} ${shortDigest(pending)}`;
}
