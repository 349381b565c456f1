import type { PendingSkill, SkillList } from "@signalbox/protocol";
import { type AdminService, ApiError } from "@signalbox/server";
import type { PendingSkill as Pending } from "@signalbox/skills";
import { escapeInvisible, escapeLine } from "@signalbox/tools";
import type { GatewayContext } from "../../context.ts";
import { createSkillUpload } from "./add-skill.ts";
import { listSkills } from "./agents.ts";

type SkillAdmin = Pick<AdminService, "skills" | "addSkill" | "approveSkill">;

/** Lists skills with the reasons why some cannot be used, adds skills, and approves new and changed ones. */
export function createSkillAdmin(ctx: GatewayContext): SkillAdmin {
  const { config, audit, seats } = ctx;

  /** Returns the skills that wait for approval. Agents may share a skill. */
  const findPending = async (): Promise<
    { readonly pending: Pending; readonly agents: readonly string[] }[]
  > => {
    const { agents, skills } = config.current();
    const found = new Map<string, { readonly pending: Pending; readonly agents: string[] }>();
    for (const agent of agents.shards) {
      if (!seats.holds(agent.shardId)) continue;
      for (const pending of await skills.pending(agent)) {
        const known = found.get(pending.skill.dir);
        if (known === undefined) found.set(pending.skill.dir, { pending, agents: [agent.shardId] });
        else known.agents.push(agent.shardId);
      }
    }
    return [...found.values()];
  };

  return {
    async skills() {
      const { agents, skills } = config.current();
      const pending = await findPending();
      const own = agents.shards.filter(({ shardId }) => seats.holds(shardId));
      const checks = await Promise.all(
        own.map(async (agent) => ({
          agent: agent.id,
          shard: agent.shards === 1 ? undefined : agent.shardId,
          skills: await listSkills(ctx, agent),
          problems: (await skills.check(agent)).problems,
        })),
      );
      const problems = checks.flatMap((check) =>
        check.problems.map(({ path, message, remedy }) => escapeLine(`${path}: ${message} ${remedy}`)),
      );
      const list: SkillList = {
        agents: checks.map(({ agent, shard, skills: found }) => ({ agent, shard, skills: found })),
        pending: pending.map(toPendingSkill),
        problems: [...new Set(problems)],
      };
      return list;
    },
    addSkill: createSkillUpload(ctx),
    async approveSkill({ id, digest }, actor) {
      const found = (await findPending()).find(
        ({ pending }) => pending.skill.id === id && pending.digest === digest,
      );
      if (found === undefined || !(await config.current().skills.approve(found.pending, actor)))
        throw new ApiError("not_found", `No skill ${id} with this digest waits for approval.`, {
          remedy: "Load the list again: the skill may have changed.",
        });
      audit.skill(found.pending, actor);
    },
  };
}

function toPendingSkill({
  pending: { skill, digest, change, diff },
  agents,
}: {
  readonly pending: Pending;
  readonly agents: readonly string[];
}): PendingSkill {
  return {
    id: skill.id,
    description: escapeLine(skill.description),
    dir: escapeLine(skill.dir),
    digest,
    agents: [...agents],
    added: change.added.map(escapeLine),
    changed: change.changed.map(escapeLine),
    removed: change.removed.map(escapeLine),
    diff: escapeInvisible(diff),
  };
}
