import { createHash } from "node:crypto";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { WorkspaceFile, WorkspaceFolder } from "@signalbox/protocol";
import { type AdminService, ApiError } from "@signalbox/server";
import { escapeLine, type Workspace, WorkspaceError } from "@signalbox/tools";
import type { GatewayContext } from "../../context.ts";
import { getAgent } from "./agents.ts";

type FileAdmin = Pick<AdminService, "agentFiles" | "agentFile" | "writeAgentFile">;

const MAX_ENTRIES = 500;
const MAX_BYTES = 256_000;

/**
 * Reads and writes the files of agents' workspaces, through the same code as the agents' own tools: no path leads out
 * of the workspace or to the gateway's own files, not even through a link.
 */
export function createFileAdmin(ctx: GatewayContext): FileAdmin {
  const { workspaces, audit, seats } = ctx;

  /** @throws ApiError if the agent does not exist, or if its files are on another node */
  const open = async (id: string): Promise<Workspace> => {
    const agent = getAgent(ctx, id);
    if (!seats.isHere(agent.id))
      throw new ApiError("conflict", `The agent ${id} runs on another node, which has its files.`);
    return withWorkspaceErrors(() => workspaces(agent));
  };

  return {
    async agentFiles(id, path) {
      const workspace = await open(id);
      const { entries } = await withWorkspaceErrors(() => workspace.list(path === "" ? "." : path));
      const shown = entries
        .filter(({ type }) => type === "file" || type === "folder")
        .toSorted((a, b) => Number(b.type === "folder") - Number(a.type === "folder"));
      const listed = await Promise.all(
        shown.slice(0, MAX_ENTRIES).map(async ({ name, type }) => {
          const about = type === "file" ? await describeFile(join(workspace.dir, path, name)) : {};
          return { name, kind: type === "file" ? "file" : "folder", ...about } as const;
        }),
      );
      const folder: WorkspaceFolder = { path, entries: listed, truncated: shown.length > MAX_ENTRIES };
      return folder;
    },
    agentFile: async (id, path) => readFile(await open(id), path),
    async writeAgentFile(id, { path, text, revision }, actor) {
      const workspace = await open(id);
      const before = await readFile(workspace, path).catch((error: unknown) => {
        if (error instanceof ApiError && error.code === "not_found") return undefined;
        throw error;
      });
      if ((before?.revision ?? null) !== revision)
        throw new ApiError("conflict", `${escapeLine(path)} has been changed in the meantime.`, {
          remedy: "Load it again, and repeat your change.",
        });
      const written = await withWorkspaceErrors(() => workspace.writeFile(path, Buffer.from(text)));
      audit.operation({ action: "written", subject: `file: ${written}`, details: { agent: id } }, actor);
      return readFile(workspace, path);
    },
  };
}

async function readFile(workspace: Workspace, path: string): Promise<WorkspaceFile> {
  if (path === "") throw new ApiError("bad_request", "Send the `path` of a file.");
  const bytes = await withWorkspaceErrors(() => workspace.readBytes(path, MAX_BYTES));
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    if (!text.includes("\0")) return { path, text, revision: hash(bytes) };
  } catch {
    // Not valid UTF-8.
  }
  throw new ApiError("conflict", `${escapeLine(path)} is not a text file.`);
}

function hash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 32);
}

/** Returns size and time of a file. Follows no link, even if one has replaced the file since it was listed. */
async function describeFile(
  path: string,
): Promise<{ readonly bytes?: number; readonly modifiedAt?: number }> {
  try {
    const { size, mtimeMs } = await lstat(path);
    return { bytes: size, modifiedAt: mtimeMs };
  } catch {
    return {};
  }
}

/** Runs `work`, and converts errors of the workspace to errors of the API. */
export async function withWorkspaceErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error;
    throw new ApiError(error.code === "not_found" ? "not_found" : "bad_request", error.message);
  }
}
