import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { WorkspaceError } from "./errors.ts";

/** An opened file. `close` it. */
export interface OpenFile {
  readonly handle: FileHandle;
  /** Bytes. */
  readonly size: number;
  /** When its content, name or rights last changed, in nanoseconds since the epoch; no one can set it. */
  readonly changedAt: bigint;
  /** Absolute, without links. */
  readonly path: string;
  /** As the agent would write it: relative to the workspace, or absolute outside it. */
  readonly displayPath: string;
  close(): Promise<void>;
}

// O_NONBLOCK: should it have become a named pipe meanwhile, opening must not wait for a writer.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** @param access a way for the calls of this process, whose last part is no link */
export async function openRegularFile(
  access: string,
  names: Pick<OpenFile, "path" | "displayPath">,
): Promise<OpenFile> {
  const handle = await open(access, FLAGS);
  const info = await handle.stat({ bigint: true }).catch(async (error: unknown) => {
    await handle.close();
    throw error;
  });
  if (!info.isFile()) {
    await handle.close();
    throw new WorkspaceError("not_a_file", `${names.displayPath} is not a regular file.`);
  }
  return {
    ...names,
    handle,
    size: Number(info.size),
    changedAt: info.ctimeNs,
    close: () => handle.close(),
  };
}

/** As many bytes as it had when it was opened; fewer where it has become shorter. */
export async function readWhole(file: OpenFile): Promise<Uint8Array> {
  const bytes = new Uint8Array(file.size);
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await file.handle.read(bytes, length, bytes.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.subarray(0, length);
}
