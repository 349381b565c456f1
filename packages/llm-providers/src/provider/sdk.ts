import { FailureError, failure } from "../failure/failure.ts";

/** For SDKs with a time-out of their own, in milliseconds: longer than any turn, which watches for silence itself. */
export const SDK_TIMEOUT_MS = 2_000_000_000;

/**
 * The vendor's SDK, an optional peer dependency.
 *
 * @throws FailureError (`invalid`) that names the command which adds the package, where it is not installed.
 */
export async function loadSdk<Sdk>(name: string, load: () => Promise<Sdk>): Promise<Sdk> {
  try {
    return await load();
  } catch (error) {
    if (!isMissing(error, name)) throw error;
    const said = `The package ${name} is needed for this model and is not installed. Add it with: npm install ${name}`;
    throw new FailureError(failure("invalid", said));
  }
}

function isMissing(error: unknown, name: string): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    (error.code === "ERR_MODULE_NOT_FOUND" || error.code === "MODULE_NOT_FOUND") &&
    error.message.includes(`'${name}`)
  );
}

/** Makes a value at the first call and keeps it; one that could not be made is made again at the next call. */
export function keptOnce<T>(make: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined;
  return () => {
    kept ??= make().catch((error: unknown) => {
      kept = undefined;
      throw error;
    });
    return kept;
  };
}
