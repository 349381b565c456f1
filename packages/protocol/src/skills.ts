import * as z from "zod/mini";
import { AgentSkill } from "./agent-details.ts";

/** A new or changed skill that is waiting for an owner. */
export const PendingSkill = z.object({
  id: z.string(),
  description: z.string(),
  /** Folder of the skill. */
  dir: z.string(),
  /** SHA-256 of the folder. The approval is bound to it. */
  digest: z.string(),
  /** Agents that would use it, or shards such as `support#2`. */
  agents: z.array(z.string()),
  /** The files that were added, changed or removed. */
  added: z.array(z.string()),
  changed: z.array(z.string()),
  removed: z.array(z.string()),
  /** Diff of its text files. An escape such as `\u{202e}` replaces each invisible or misleading character. */
  diff: z.string(),
});
export type PendingSkill = z.infer<typeof PendingSkill>;

/** Response of `GET /api/skills`. */
export const SkillList = z.object({
  agents: z.array(
    z.object({
      agent: z.string(),
      /** The shard, such as `support#2`, if the agent is split. Each shard has a workspace. */
      shard: z.optional(z.string()),
      skills: z.array(AgentSkill),
    }),
  ),
  pending: z.array(PendingSkill),
  /** Problems with files of skills, one line each. */
  problems: z.array(z.string()),
});
export type SkillList = z.infer<typeof SkillList>;

/**
 * Body of `POST /api/skills`: a folder of at most 100 files and 600 kB that becomes `skills/<name>` in the agent's
 * workspace, either as `files` or as `zip`.
 */
export const SkillUpload = z.strictObject({
  /** The agent, or a shard such as `support#2`. */
  agent: z.string().check(z.minLength(1), z.maxLength(200)),
  /** Name of the new folder: lower-case letters, digits, `-`, `_` and `.`. */
  name: z.string().check(z.minLength(1), z.maxLength(64)),
  files: z.optional(
    z
      .array(
        z.strictObject({
          /** Path inside the folder, such as `scripts/run.py`. */
          path: z.string().check(z.minLength(1), z.maxLength(200)),
          /** Content in Base64. */
          data: z.string().check(z.maxLength(800_000)),
        }),
      )
      .check(z.minLength(1), z.maxLength(100)),
  ),
  /** ZIP file of the folder in Base64. The limits apply to its unpacked content. */
  zip: z.optional(z.string().check(z.minLength(1), z.maxLength(800_000))),
});
export type SkillUpload = z.infer<typeof SkillUpload>;

/** Response of `POST /api/skills`: the skill, which waits for an owner's approval. */
export const AddedSkill = z.object({
  id: z.string(),
  /** Folder of the skill. */
  dir: z.string(),
  /** SHA-256 of the folder, for the approval. */
  digest: z.string(),
});
export type AddedSkill = z.infer<typeof AddedSkill>;

/** Body of `POST /api/skills/approve`. */
export const SkillApproval = z.strictObject({ id: z.string(), digest: z.string().check(z.minLength(1)) });
export type SkillApproval = z.infer<typeof SkillApproval>;
