import { accessSync, constants, readFileSync } from "node:fs";
import { reasonOf } from "@signalbox/agent-core";
import { GatewayError } from "./errors.ts";

/** Returns true if the path exists. @throws GatewayError `config` if this user may not read it or its folder */
export function isThere(path: string): boolean {
  return ifThere(path, () => accessSync(path, constants.R_OK) === undefined) ?? false;
}

/** Returns the text of a file, or undefined if it does not exist. @throws GatewayError `config` if it cannot be read */
export function textIfThere(path: string): string | undefined {
  return ifThere(path, () => readFileSync(path, "utf8"));
}

function ifThere<T>(path: string, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR"))
      return undefined;
    throw unreadable(path, error);
  }
}

/** Returns the error for a file that cannot be read. */
export function unreadable(path: string, cause: unknown): GatewayError {
  const remedy = "Make it readable for this user.";
  return new GatewayError("config", `${path} cannot be read: ${reasonOf(cause)}. ${remedy}`, { cause });
}
