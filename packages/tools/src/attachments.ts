import { getIdentityClaims } from "./files/identity-files.ts";
import { isVisible } from "./files/places.ts";
import { type Decision, decideByPolicies, type ToolPolicy } from "./policy.ts";
import type { RunFacts } from "./types.ts";

/** An attachment to a reply or message: a file, given by the path that the workspace displays, or a page. */
export type AttachmentSource = { readonly file: string } | { readonly url: string };

/**
 * Decides whether a run may send an attachment. A run may send a file if it may read the file or run commands. A page
 * is not fetched for a run that has read untrusted content, because its URL could exfiltrate information.
 *
 * @param policies all of them must allow the attachment
 */
export function decideAttachment(
  policies: readonly ToolPolicy[],
  facts: RunFacts,
  source: AttachmentSource,
): Decision {
  if ("url" in source) {
    return facts.taint.length === 0
      ? { decision: "allow", rule: "attach_url", reason: "The run has read nothing untrusted." }
      : { decision: "deny", rule: "taint_attach", reason: "This run has read untrusted content." };
  }
  if (!isVisible(source.file, facts)) {
    return { decision: "deny", rule: "attach_place", reason: "The file belongs to someone else." };
  }
  const claims = getIdentityClaims("read_identity", source.file);
  const all = policies.map((policy) => ({ policy, isCovered: false }));
  const decideAs = (name: string) =>
    decideByPolicies(all, { tool: { name, effects: "none" }, claims, facts });
  const asExec = decideAs("exec");
  return asExec.decision === "allow" ? asExec : decideAs("read");
}
