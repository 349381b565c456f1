import { ChannelError } from "../contract/errors.ts";

/**
 * The platform's SDK is installed separately (`meta.requires`). If loading failed because it is missing, this is the
 * error that names the command to install it.
 * @returns undefined for an error of another kind
 */
export function missingPackage(error: unknown, packageName: string): ChannelError | undefined {
  const isMissing =
    error instanceof Error &&
    "code" in error &&
    (error.code === "MODULE_NOT_FOUND" || error.code === "ERR_MODULE_NOT_FOUND") &&
    error.message.includes(`'${packageName}`);
  if (!isMissing) return undefined;
  const said = `The package ${packageName} is not installed. Add it with: npm install ${packageName}`;
  return new ChannelError("unsupported", said, { scope: "account" });
}
