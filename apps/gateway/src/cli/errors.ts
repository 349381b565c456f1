/** Returns the `code` of a system error, such as `ENOENT`. */
export function getErrorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
