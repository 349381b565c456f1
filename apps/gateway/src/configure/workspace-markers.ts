import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { reasonOf } from "@signalbox/agent-core";
import type { KvStore } from "@signalbox/store";
import { z } from "zod";

/** Name of the file with the id of a workspace. */
export const MARKER_FILE = ".signalbox-workspace";

const NAMESPACE = "workspaces";
const MAX_BYTES = 100;
const idSchema = z.uuid();

/** A workspace, and the agent or shard that it belongs to. */
interface MarkedWorkspace {
  readonly shardId: string;
  readonly workspaceDir: string;
}

/**
 * Compares workspaces with the ids in the store, so that an agent that moves to another node does not continue in an
 * empty folder, for example because a shared volume is not mounted there.
 */
export interface WorkspaceMarkers {
  /** Returns the reason why an agent may not run with this folder, if there is one. */
  findProblem(workspace: MarkedWorkspace): Promise<string | undefined>;
  /** Marks a folder that {@link findProblem} accepted. Call this on the node that runs the agent. */
  mark(workspace: MarkedWorkspace): Promise<void>;
}

export function createWorkspaceMarkers(kv: Pick<KvStore, "get" | "set">): WorkspaceMarkers {
  const getKnown = async (shardId: string): Promise<string | undefined> =>
    idSchema.safeParse(await kv.get(NAMESPACE, shardId)).data;

  return {
    async findProblem({ shardId, workspaceDir }) {
      const known = await getKnown(shardId);
      if (known === undefined) return undefined;
      const file = join(workspaceDir, MARKER_FILE);
      const found = await readMarker(file).catch(reasonOf);
      if (found === known) return undefined;
      const fault = found === undefined ? "is missing" : "has another id or cannot be read";
      return (
        `The folder ${workspaceDir} is not the workspace that the agent ${shardId} used before: the file ` +
        `${MARKER_FILE} in it ${fault}. Mount the volume with the workspace. To use this folder from now on, write ` +
        `${known} into that file.`
      );
    },
    async mark({ shardId, workspaceDir }) {
      const file = join(workspaceDir, MARKER_FILE);
      const known = await getKnown(shardId);
      const found = await readMarker(file);
      if (known !== undefined && found === known) return;
      // A folder that was used with another database keeps its id.
      const id = known ?? idSchema.safeParse(found).data ?? randomUUID();
      if (id !== found) await writeMarker(file, id);
      if (id !== known) await kv.set(NAMESPACE, shardId, id);
    },
  };
}

async function readMarker(file: string): Promise<string | undefined> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: unknown) => {
      if (Reflect.get(Object(error), "code") === "ENOENT") return undefined;
      throw error;
    },
  );
  if (handle === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    return buffer.toString("utf8", 0, bytesRead).trim();
  } finally {
    await handle.close();
  }
}

/** Does not follow a link or wait for a pipe, because tools of the agent can create one. */
async function writeMarker(file: string, id: string): Promise<void> {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = await open(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    await handle.writeFile(`${id}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
