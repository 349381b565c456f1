import type { Approval } from "./approval-store.ts";
import type { Approvals } from "./approvals.ts";
import { visibleText } from "./visible.ts";

/** Approvals whose questions are put to people for as long as the host runs. */
export interface Questions extends Approvals {
  /** From now on nobody is asked. The questions stay open: a call that goes on after the next start asks anew. */
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
    ...approvals,
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

/** The question in words: everything that an answer is bound to, in full. Markdown. */
export function questionText(approval: Approval): string {
  const { id, agentId, tool, reason, subject, expiresAt } = approval;
  const files = (subject.files ?? []).map(
    ({ path, sha256 }) => `${visibleText(path)} (sha256 ${sha256.slice(0, 16)})`,
  );
  const answers = ["allow", ...(subject.rules === undefined ? [] : ["allow-always"]), "deny"];
  const longest = Math.max(2, ...[...subject.action.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  const variables = Object.entries(subject.env ?? {}).map(([name, value]) => `${name}=${value}`);
  return [
    `Approval ${id}: the agent ${agentId} wants to use ${tool}. ${reason}`,
    `${fence}\n${subject.action}\n${fence}`,
    ...(subject.binary === undefined ? [] : [`Program: ${subject.binary}`]),
    ...(subject.cwd === undefined ? [] : [`Folder: ${subject.cwd}`]),
    ...(subject.domains === undefined ? [] : [`Reaches: ${subject.domains.map(visibleText).join(", ")}`]),
    ...(files.length === 0 ? [] : [`Files it names, as they are now: ${files.join(", ")}`]),
    ...(variables.length === 0 ? [] : [`Environment: ${variables.join(" ")}`]),
    `An owner decides, until ${minuteOf(expiresAt)}:`,
    ...answers.map((answer, index) => `${index + 1}. /approve ${id} ${answer}`),
  ].join("\n");
}

/** `2026-11-23 06:10 UTC` */
function minuteOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
