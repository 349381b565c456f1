import type { MayAttach } from "@signalbox/attachments";
import { claimsOn, decide, type RunFacts } from "@signalbox/tools";
import type { Agent } from "./agents.ts";

/**
 * What a run may not read it may not send either; who may run commands can read. A page is fetched for no run that has
 * seen what others wrote: its address would tell them whatever they asked for.
 */
export function decideAttachment(
  { tools }: Agent,
  facts: RunFacts,
  what: Parameters<MayAttach>[0],
): ReturnType<typeof decide> {
  if ("url" in what) {
    return facts.taint.length === 0
      ? { decision: "allow", rule: "attach.url", reason: "The run has seen nothing untrusted." }
      : { decision: "deny", rule: "taint.attach", reason: "This run has seen untrusted content." };
  }
  const claims = claimsOn("read-identity", what.file);
  const [read, exec] = (["read", "exec"] as const).map((name) =>
    decide({ allow: tools.allow, deny: tools.deny }, { tool: { name, effects: "none" }, claims, facts }),
  );
  if (exec?.decision === "allow") return exec;
  return read ?? { decision: "deny", rule: "attach", reason: "There is no rule for it." };
}
