import { execFileSync } from "node:child_process";
import { ROOT } from "./pages.ts";

/**
 * Returns the URL of the repository on the web, for edit links.
 *
 * @returns undefined if the checkout has no `origin` with a public address
 */
export function getRepositoryUrl(origin: string = readOrigin()): string | undefined {
  const [, host, path] =
    /^(?:https:\/\/(?:[^@/]+@)?|(?:ssh:\/\/)?git@)([\w.-]+\.[a-z]{2,})[:/](.+?)(?:\.git)?\/?$/.exec(origin) ??
    [];
  return host === undefined ? undefined : `https://${host}/${path}`;
}

function readOrigin(): string {
  try {
    return execFileSync("git", ["remote", "get-url", "origin"], {
      cwd: ROOT,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return "";
  }
}
