import { join, sep } from "node:path";
import type { AddedSkill, SkillUpload } from "@signalbox/protocol";
import { ApiError } from "@signalbox/server";
import { escapeLine, type Workspace } from "@signalbox/tools";
import type { Agent } from "../../configure/agents.ts";
import type { GatewayContext } from "../../context.ts";
import { type SkillFile, unpackSkill } from "./skill-archive.ts";
import { withWorkspaceErrors } from "./workspace-files.ts";

/** Maximum number and total size in bytes of the files of a skill. */
const LIMITS = { files: 100, bytes: 600_000 };
/** Maximum number of names in a path. */
const MAX_DEPTH = 8;
const MAIN_FILE = "SKILL.md";

/** A name that is the same on every file system: no upper case, and no separator or dot at its ends. */
const FOLDER_NAME = /^[\p{Ll}\p{Lo}\p{N}](?:[\p{Ll}\p{Lo}\p{M}\p{N}._-]*[\p{Ll}\p{Lo}\p{M}\p{N}])?$/u;
/** Characters that would hide a part of a name, or that some systems do not permit in names. */
const FORBIDDEN_CHARACTERS = /[\p{C}\p{Zl}\p{Zp}\\:*?"<>|]/u;

/** Creates the function that adds skills to agents' workspaces. */
export function createSkillUpload(
  ctx: GatewayContext,
): (upload: SkillUpload, actor: string) => Promise<AddedSkill> {
  const { config, workspaces, audit } = ctx;
  /** Folders that are being written. */
  const inProgress = new Set<string>();

  return async ({ agent: shardId, name, files: encoded, zip }, actor) => {
    const agent = getShard(ctx, shardId);
    assertFolderName(name);
    const files = checkFiles(readUpload({ files: encoded, zip }));
    const workspace = await withWorkspaceErrors(() => workspaces(agent));
    const { skills } = config.current();
    // A scan before the change marks the folder of skills as known. Skills in a known folder need approval.
    await skills.pending(agent);
    const dir = join(agent.workspaceDir, "skills", name);
    if (inProgress.has(dir)) throw createConflict(name);
    inProgress.add(dir);
    try {
      if (await exists(workspace, name)) throw createConflict(name);
      const added = await writeSkill(workspace, `skills/${name}`, files, () => findAdded(ctx, agent, dir));
      const bytes = countBytes(files);
      const details = { agent: shardId, files: files.length, bytes, digest: added.digest };
      audit.operation({ action: "added", subject: `skill: ${added.id}`, details }, actor);
      return added;
    } finally {
      inProgress.delete(dir);
    }
  };
}

/** @throws ApiError if there is no such agent or shard, or if its files are on another node */
function getShard({ config, seats }: GatewayContext, shardId: string): Agent {
  const { agents } = config.current();
  const agent = agents.shards.find((each) => each.shardId === shardId);
  if (agent === undefined)
    throw new ApiError("not_found", `There is no agent ${escapeLine(shardId)}.`, {
      remedy: `Use one of ${agents.shards.map((each) => each.shardId).join(", ")}.`,
    });
  if (!seats.holds(shardId))
    throw new ApiError("conflict", `The agent ${shardId} runs on another node, which has its files.`);
  return agent;
}

function assertFolderName(name: string): void {
  if (FOLDER_NAME.test(name) && name.normalize("NFC") === name) return;
  throw new ApiError("bad_request", `${escapeLine(name)} cannot be the name of a skill.`, {
    remedy: "Rename the folder: lower-case letters and digits, with - _ or . between them.",
  });
}

/** @throws ApiError if the upload is not Base64, is a faulty ZIP file, or has both or neither of the two forms */
function readUpload({ files, zip }: Pick<SkillUpload, "files" | "zip">): readonly SkillFile[] {
  if ((files === undefined) === (zip === undefined))
    throw new ApiError("bad_request", "Send either the files of the skill or a ZIP file.");
  if (zip !== undefined) return unpackSkill(decodeBase64(zip, "ZIP file"), LIMITS);
  return (files ?? []).map(({ path, data }) => ({
    path,
    content: decodeBase64(data, `file ${escapeLine(path)}`),
  }));
}

function decodeBase64(data: string, of: string): Uint8Array {
  const content = Buffer.from(data, "base64");
  if (content.toString("base64") === data) return content;
  throw new ApiError("bad_request", `The data of the ${of} is not Base64.`);
}

/** @throws ApiError if a path is not permitted or not unique, or if the files are too large */
function checkFiles(files: readonly SkillFile[]): readonly SkillFile[] {
  const paths = new Set<string>();
  for (const { path } of files) {
    assertPath(path);
    // Some file systems ignore case, so that one file would replace the other.
    const key = path.normalize("NFC").toLowerCase();
    if (paths.has(key)) throw new ApiError("bad_request", `${escapeLine(path)} occurs twice.`);
    paths.add(key);
  }
  if (countBytes(files) > LIMITS.bytes)
    throw new ApiError("too_large", `The files of the skill have more than ${LIMITS.bytes / 1_000} kB.`, {
      remedy: "Remove files that the skill does not need, or copy the folder to the workspace.",
    });
  if (!files.some(({ path }) => path === MAIN_FILE))
    throw new ApiError("bad_request", `The folder has no ${MAIN_FILE}.`, {
      remedy: `Choose the folder that contains the ${MAIN_FILE}.`,
    });
  // The folder becomes a skill with its last file, so that no incomplete skill is shown for approval.
  return files.toSorted((a, b) => Number(a.path === MAIN_FILE) - Number(b.path === MAIN_FILE));
}

function assertPath(path: string): void {
  const names = path.split("/");
  // Hidden files would be overlooked, and `.` and `..` lead to other folders.
  const isPermitted = names.every((name) => name !== "" && !name.startsWith(".") && !/[. ]$/.test(name));
  if (isPermitted && names.length <= MAX_DEPTH && !FORBIDDEN_CHARACTERS.test(path)) return;
  throw new ApiError("bad_request", `${escapeLine(path)} is not a permitted path.`, {
    remedy: "Use paths inside the folder such as scripts/run.py, without hidden files.",
  });
}

function countBytes(files: readonly SkillFile[]): number {
  return files.reduce((sum, { content }) => sum + content.length, 0);
}

/** Returns true if the agent's folder of skills has an entry with this name, also in other upper or lower case. */
async function exists(workspace: Workspace, name: string): Promise<boolean> {
  const { entries } = await withWorkspaceErrors(() => workspace.list("skills")).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === "not_found") return { entries: [] };
    throw error;
  });
  return entries.some((entry) => entry.name.normalize("NFC").toLowerCase() === name.toLowerCase());
}

function createConflict(name: string): ApiError {
  return new ApiError("conflict", `The agent already has a folder skills/${name}.`, {
    remedy: "Rename the folder, or remove the existing one from the workspace.",
  });
}

/** Writes the files and calls `check`. If any of it fails, removes everything that it wrote. */
async function writeSkill<T>(
  workspace: Workspace,
  folder: string,
  files: readonly SkillFile[],
  check: () => Promise<T>,
): Promise<T> {
  const written: string[] = [];
  try {
    for (const { path, content } of files) {
      written.push(`${folder}/${path}`);
      await withWorkspaceErrors(() => workspace.writeFile(`${folder}/${path}`, content));
    }
    return await check();
  } catch (error) {
    await removeFiles(workspace, folder, written);
    throw error;
  }
}

async function removeFiles(workspace: Workspace, folder: string, paths: readonly string[]): Promise<void> {
  const folders = new Set([folder]);
  for (const path of paths) {
    await workspace.removeFile(path).catch(() => {});
    const names = path.split("/");
    for (let end = names.length - 1; end > 2; end -= 1) folders.add(names.slice(0, end).join("/"));
  }
  const deepestFirst = [...folders].toSorted((a, b) => b.split("/").length - a.split("/").length);
  for (const each of deepestFirst) await workspace.removeFolder(each).catch(() => {});
}

/** @throws ApiError with the reason why the folder is not a skill that waits for approval */
async function findAdded({ config }: GatewayContext, agent: Agent, dir: string): Promise<AddedSkill> {
  const { skills } = config.current();
  const found = (await skills.pending(agent)).find(({ skill }) => skill.dir === dir);
  if (found !== undefined) return { id: found.skill.id, dir: escapeLine(dir), digest: found.digest };
  const { problems } = await skills.check(agent);
  const problem = problems.find(({ path }) => path === dir || path.startsWith(`${dir}${sep}`));
  const reason = problem?.message ?? "An agent would not find it.";
  throw new ApiError("bad_request", `The folder is not a valid skill. ${escapeLine(reason)}`, {
    remedy: escapeLine(problem?.remedy ?? `Correct its ${MAIN_FILE}.`),
  });
}
