import type { ApprovalInfo } from "@signalbox/protocol";
import { type Approval, escapeLine } from "@signalbox/tools";

/** Converts an approval for the API. Escapes its strings for display. */
export function toApprovalInfo({
  id,
  agentId,
  sessionKey,
  tool,
  reason,
  subject,
  requester,
  expiresAt,
}: Approval): ApprovalInfo {
  const { binary, files, cwd, domains, env } = subject;
  return {
    id,
    agent: agentId,
    sessionKey,
    tool,
    ...(requester === undefined ? {} : { requester }),
    reason,
    expiresAt,
    action: subject.action,
    binary: binary === undefined ? undefined : escapeLine(binary),
    files: files?.map(({ path, sha256 }) => ({ path: escapeLine(path), sha256 })),
    cwd: cwd === undefined ? undefined : escapeLine(cwd),
    domains: domains?.map(escapeLine),
    env:
      env &&
      Object.fromEntries(Object.entries(env).map(([name, value]) => [escapeLine(name), escapeLine(value)])),
  };
}
