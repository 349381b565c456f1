import { CodedError } from "@signalbox/agent-core";

/** The reasons why a path cannot be used. */
export type WorkspaceErrorCode =
  | "outside"
  | "forbidden"
  | "read_only"
  | "not_found"
  | "not_a_file"
  | "not_a_folder"
  | "bad_path"
  | "loop"
  | "changed"
  | "io";

/** Thrown for a path that does not exist or that the agent may not use. The message is written for the model. */
export class WorkspaceError extends CodedError<WorkspaceErrorCode> {
  override readonly name = "WorkspaceError";
}

/**
 * Thrown for a path that the run may not know about. The path is refused by its name before anything is looked up, and
 * always with the same message, so that the refusal does not reveal what exists.
 */
export class HiddenPlaceError extends WorkspaceError {
  constructor(path: string) {
    super("not_found", `There is no ${path} here.`);
  }
}

/** Returns the system error code of a failed call, such as `ENOENT`. */
export function getErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** Creates the error for a path that leads out of the workspace. */
export function createOutsideError(path: string): WorkspaceError {
  return new WorkspaceError("outside", `${path} is outside the workspace. Use a path relative to it.`);
}

/** Converts a file system error. The message contains the path that the agent wrote. */
export function toWorkspaceError(error: unknown, path: string): WorkspaceError {
  if (error instanceof HiddenPlaceError) return new HiddenPlaceError(path);
  if (error instanceof WorkspaceError) {
    return error.code === "outside"
      ? new WorkspaceError("outside", createOutsideError(path).message, { cause: error })
      : error;
  }
  const code = getErrorCode(error);
  const cause = { cause: error };
  switch (code) {
    case "ENOENT":
      return new WorkspaceError("not_found", `There is no ${path}.`, cause);
    case "ENOTDIR":
      return new WorkspaceError("not_a_folder", `A part of ${path} is a file, not a folder.`, cause);
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
      return new WorkspaceError("bad_path", "The path is too long.", cause);
    case "ENOSPC":
      return new WorkspaceError("io", "The disk is full.", cause);
    case "EROFS":
      return new WorkspaceError("read_only", `${path} is on a read-only file system.`, cause);
    default:
      return new WorkspaceError("io", `${path} cannot be used (${code ?? "unknown error"}).`, cause);
  }
}
