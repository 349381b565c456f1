import { ChannelError } from "../contract/errors.ts";

/**
 * The platform's SDK is installed by people, beside the channel (`meta.requires`): where loading it failed for want of
 * it, the error that names the command which adds it.
 *
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
