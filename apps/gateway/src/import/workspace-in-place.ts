import { existsSync } from "node:fs";
import { join } from "node:path";
import { GatewayError } from "@signalbox/home";
import type { Item } from "./item.ts";
import type { SettingImport, SkillImport } from "./source.ts";
import {
  type ConvertedWorkspace,
  convertWorkspace,
  type NoteRules,
  type SourceWorkspace,
} from "./workspaces.ts";

/** A workspace that stays where it is. */
export interface KeptWorkspace extends Omit<ConvertedWorkspace, "imports"> {
  readonly imports: readonly (SkillImport | SettingImport)[];
}

/**
 * Lets an agent use a workspace where it is. No file of it is written, so notes cannot be moved or marked as untrusted.
 *
 * @throws GatewayError if the notes count as untrusted
 */
export function keepWorkspace(workspace: SourceWorkspace, { isUntrusted }: NoteRules): KeptWorkspace {
  const { agentId, dir } = workspace;
  const { imports, items, foreignLines } = convertWorkspace(workspace, { isUntrusted: false });
  const notes = imports.filter((each) => each.kind === "file" && each.part === "memory");
  if (isUntrusted && notes.length > 0)
    throw new GatewayError(
      "usage",
      `Others could talk to the agent ${agentId}, so its notes count as untrusted, and --in-place cannot mark them in ${dir}. Leave --in-place out, or read the notes and add --trust-memory.`,
    );
  const kept = imports.flatMap((each): readonly Item[] => {
    if (each.kind !== "file") return [];
    const isMisplaced = each.id === `${agentId}/MEMORY.md` || each.id === `${agentId}/memory.md`;
    return [
      isMisplaced
        ? {
            part: each.part,
            id: each.id,
            state: "unsupported",
            why: `Lasting notes are in memory/MEMORY.md here. Move it there: ${join(dir, "memory", "MEMORY.md")}.`,
          }
        : {
            part: each.part,
            id: each.id,
            state: "skipped",
            why: `It stays in ${dir}, which the agent uses.`,
          },
    ];
  });
  const skills = imports.flatMap((each) =>
    each.kind === "skill" ? [{ ...each, to: join(dir, each.to.slice(`workspaces/${agentId}/`.length)) }] : [],
  );
  const setting: SettingImport = {
    kind: "setting",
    ids: [],
    path: ["agents", "list", { id: agentId }, "workspaceDir"],
    value: dir,
  };
  return { imports: existsSync(dir) ? [...skills, setting] : [], items: [...items, ...kept], foreignLines };
}
