import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { WorkspaceError } from "./errors.ts";

/** An open file. Call `close` after use. */
export interface OpenFile {
  readonly handle: FileHandle;
  /** Size in bytes. */
  readonly size: number;
  /**
   * Time of the last change to content, name or permissions (`ctime`), in nanoseconds since the epoch. Programs cannot
   * set it.
   */
  readonly changedAt: bigint;
  /** Absolute path with links resolved. */
  readonly path: string;
  /** Path as the agent would write it: relative to the workspace, or absolute outside it. */
  readonly displayPath: string;
  close(): Promise<void>;
}

// `O_NONBLOCK`: if a named pipe has replaced the file, opening it must not wait for a writer.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Opens a regular file.
 *
 * @param access path that this process uses to open the file. Its last component must not be a link.
 * @throws WorkspaceError `not_a_file`
 */
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

/** Reads the number of bytes that the file had when it was opened, or fewer if it has become shorter. */
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
