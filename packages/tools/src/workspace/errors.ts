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
