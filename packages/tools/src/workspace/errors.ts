/** Why a path cannot be used. */
export type WorkspaceErrorCode =
  | "outside"
  | "forbidden"
  | "read-only"
  | "not-found"
  | "not-a-file"
  | "not-a-folder"
  | "bad-path"
  | "loop"
  | "changed"
  | "io";

/** A path that leads nowhere or to where the agent may not go. The message is fit for the model. */
export class WorkspaceError extends Error {
  readonly code: WorkspaceErrorCode;

  constructor(code: WorkspaceErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "WorkspaceError";
    this.code = code;
  }
}

export function errno(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** A path that leads out of the workspace. */
export function outside(path: string): WorkspaceError {
  return new WorkspaceError("outside", `${path} is outside the workspace. Use a path relative to it.`);
}

/** What the file system said of a path, in words for the model. */
export function explained(error: unknown, path: string): WorkspaceError {
  if (error instanceof WorkspaceError) {
    return error.code === "outside"
      ? new WorkspaceError("outside", outside(path).message, { cause: error })
      : error;
  }
  const code = errno(error);
  const cause = { cause: error };
  switch (code) {
    case "ENOENT":
      return new WorkspaceError("not-found", `There is no ${path}.`, cause);
    case "ENOTDIR":
      return new WorkspaceError("not-a-folder", `A part of ${path} is a file, not a folder.`, cause);
    case "ELOOP":
      return new WorkspaceError(
        "changed",
        `${path} was replaced by a link while it was being opened.`,
        cause,
      );
    case "EACCES":
    case "EPERM":
      return new WorkspaceError("io", `The gateway's user has no permission for ${path}.`, cause);
    case "ENAMETOOLONG":
      return new WorkspaceError("bad-path", "The path is too long.", cause);
    case "ENOSPC":
      return new WorkspaceError("io", "The disk is full.", cause);
    case "EROFS":
      return new WorkspaceError("read-only", `${path} is on a read-only file system.`, cause);
    default:
      return new WorkspaceError("io", `${path} cannot be used (${code ?? "unknown error"}).`, cause);
  }
}
