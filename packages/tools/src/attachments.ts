import { claimsOn } from "./files/identity-files.ts";
import { isVisible } from "./files/places.ts";
import { type Decision, decideByAll, type ToolPolicy } from "./policy.ts";
import type { RunFacts } from "./types.ts";

/** What a reply or message would carry: a file of the workspace, as the workspace gave its path, or a page. */
export type AttachmentSource = { readonly file: string } | { readonly url: string };

/**
 * What a run may not read it may not send either; who may run commands can read. A page is fetched for no run that has
 * seen what others wrote: its address would tell them whatever they asked for.
 *
 * @param policies by each of which it must be allowed
 */
export function decideAttachment(
  policies: readonly ToolPolicy[],
  facts: RunFacts,
  source: AttachmentSource,
): Decision {
  if ("url" in source) {
    return facts.taint.length === 0
      ? { decision: "allow", rule: "attach.url", reason: "The run has seen nothing untrusted." }
      : { decision: "deny", rule: "taint.attach", reason: "This run has seen untrusted content." };
  }
  if (!isVisible(source.file, facts)) {
    return { decision: "deny", rule: "attach.place", reason: "The file belongs to someone else." };
  }
  const claims = claimsOn("read-identity", source.file);
  const all = policies.map((policy) => ({ policy, isCovered: false }));
  const by = (name: string) => decideByAll(all, { tool: { name, effects: "none" }, claims, facts });
  const exec = by("exec");
  return exec.decision === "allow" ? exec : by("read");
}
