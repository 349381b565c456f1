import { createHash } from "node:crypto";
import type { ReadOptions } from "./source.ts";

/** Returns the id of an agent here: letters, digits and hyphens. */
export function toAgentId(theirs: string, { agents }: Pick<ReadOptions, "agents">): string {
  const named = Object.hasOwn(agents, theirs) ? agents[theirs] : undefined;
  if (named !== undefined) return named;
  const clean = theirs
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 64);
  return clean === "" ? `agent-${createHash("sha256").update(theirs).digest("hex").slice(0, 6)}` : clean;
}

/** Returns the name of an account here. */
export function toAccountName(
  channel: string,
  theirs: string,
  { accounts }: Pick<ReadOptions, "accounts">,
): string {
  const key = `${channel}/${theirs}`;
  return (Object.hasOwn(accounts, key) ? accounts[key] : undefined) ?? theirs;
}
