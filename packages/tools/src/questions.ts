import { type Phrases, phrasesIn } from "@signalbox/phrases";
import type { Approval } from "./approval-store.ts";
import type { Approvals } from "./approvals.ts";
import { codeBlock, codeSpan } from "./visible.ts";

/** Approvals whose questions are put to people for as long as the host runs. */
export interface Questions extends Approvals {
  /** From now on no one is asked. The questions stay open: a call that continues after the next start asks again. */
  close(reason: Error): void;
  /** Rejects with the reason of {@link close}. */
  readonly closed: Promise<never>;
}

/** Puts each new question to people, once. That it could not be put is the host's to report: it stays open. */
export function createQuestions(approvals: Approvals, put: (approval: Approval) => Promise<void>): Questions {
  const closing = Promise.withResolvers<never>();
  // Nobody need be waiting when it closes.
  closing.promise.catch(() => {});
  let isClosed = false;
  return {
    list: (filter) => approvals.list(filter),
    resolve: (id, answer, approver) => approvals.resolve(id, answer, approver),
    wait: (id, signal) => approvals.wait(id, signal),
    take: (request, call) => approvals.take(request, call),
    closed: closing.promise,
    close(reason) {
      isClosed = true;
      closing.reject(reason);
    },
    async request(request) {
      const before = await approvals.list({ states: ["pending"], limit: Number.MAX_SAFE_INTEGER });
      const approval = await approvals.request(request);
      if (!isClosed && !before.some(({ id }) => id === approval.id)) await put(approval);
      return approval;
    },
  };
}

/**
 * The question in words: everything that an answer is bound to, in full, but for what only owners may see. Markdown.
 * @param isPrivate whether an owner reads it, and nobody else
 */
export function questionText(
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
    action: isShown ? codeBlock(subject.action) : phrases.actionForOwners(id),
    ...(binary === undefined ? {} : { program: codeSpan(binary) }),
    ...(cwd === undefined ? {} : { folder: codeSpan(cwd) }),
    hosts: domains.map(codeSpan),
    files: files.map(({ path, sha256 }) => `${codeSpan(path)} (sha256 ${sha256.slice(0, 16)})`),
    environment: Object.entries(env).map(([name, value]) => codeSpan(`${name}=${value}`)),
    until: minuteOf(expiresAt),
    answers: answers.map((answer, index) => `${index + 1}. /approve ${id} ${answer}`),
  });
}

/** `2026-11-23 06:10 UTC` */
function minuteOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
