import { ChannelError } from "../contract/errors.ts";

/**
 * Creates the error for an SDK that is not installed. SDKs are installed separately (`meta.requires`).
 *
 * @param error the error from the import
 * @returns an error with the command to install the package, or `undefined` if the import failed for another reason
 */
export function createMissingPackageError(error: unknown, packageName: string): ChannelError | undefined {
  const isMissing =
    error instanceof Error &&
    "code" in error &&
    (error.code === "MODULE_NOT_FOUND" || error.code === "ERR_MODULE_NOT_FOUND") &&
    error.message.includes(`'${packageName}`);
  if (!isMissing) return undefined;
  const message = `The package ${packageName} is not installed. Add it with: npm install ${packageName}`;
  return new ChannelError("unsupported", message, { scope: "account" });
}
