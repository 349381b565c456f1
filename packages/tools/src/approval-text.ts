import { type Phrases, phrasesIn } from "@signalbox/phrases";
import type { Approval } from "./approval-store.ts";
import { formatCodeBlock, formatCodeSpan } from "./escape.ts";

/**
 * Formats an approval request as Markdown. The result shows in full everything that the decision is bound to.
 *
 * @param isPrivate true if only an owner will read the message. Otherwise, details for owners are omitted.
 */
export function formatApproval(
  approval: Approval,
  phrases: Phrases = phrasesIn("en"),
  isPrivate = false,
): string {
  const { id, agentId: agent, tool, reason, subject, expiresAt } = approval;
  const { binary, cwd, domains = [], files = [], env = {}, rules } = subject;
  const isShown = isPrivate || subject.forOwners !== true;
  const answers = ["allow", ...(rules === undefined ? [] : ["allow-always"]), "deny"];
  return phrases.question({
    id,
    agent,
    tool,
    reason,
    action: isShown ? formatCodeBlock(subject.action) : phrases.actionForOwners(id),
    ...(binary === undefined ? {} : { program: formatCodeSpan(binary) }),
    ...(cwd === undefined ? {} : { folder: formatCodeSpan(cwd) }),
    hosts: domains.map(formatCodeSpan),
    files: files.map(({ path, sha256 }) => `${formatCodeSpan(path)} (sha256 ${sha256.slice(0, 16)})`),
    environment: Object.entries(env).map(([name, value]) => formatCodeSpan(`${name}=${value}`)),
    until: formatMinute(expiresAt),
    answers: answers.map((answer, index) => `${index + 1}. /approve ${id} ${answer}`),
  });
}

/** Formats a time as `2026-11-23 06:10 UTC`. */
function formatMinute(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
