import { type Phrases, phrasesIn } from "@signalbox/phrases";
import type { Approval, Requester } from "./approval-store.ts";
import { formatCodeBlock, formatCodeSpan } from "./escape.ts";

interface ApprovalTextOptions {
  /** Default: English. */
  readonly phrases?: Phrases;
  /** True if only an owner will read the message. Otherwise, details for owners are omitted. Default: false. */
  readonly isPrivate?: boolean;
}

/** An approval request for a chat, as Markdown. */
interface ApprovalText {
  /** The request for a message with buttons. */
  readonly text: string;
  /** The request for a message without buttons, with the commands that decide it. */
  readonly withoutButtons: string;
}

/**
 * Formats an approval request as Markdown, with the commands that decide it. The result shows in full everything that
 * the decision is bound to.
 */
export function formatApproval(approval: Approval, options: ApprovalTextOptions = {}): string {
  return format(approval, options, { isComplete: true, hasCommands: true });
}

/**
 * Formats an approval request for a message with buttons. It omits what is the same for every call of the tool, and
 * names the command that shows it.
 */
export function formatShortApproval(approval: Approval, options: ApprovalTextOptions = {}): ApprovalText {
  return {
    text: format(approval, options, { isComplete: false, hasCommands: false }),
    withoutButtons: format(approval, options, { isComplete: false, hasCommands: true }),
  };
}

function format(
  { id, agentId: agent, tool, reason, subject, expiresAt, requester }: Approval,
  { phrases = phrasesIn("en"), isPrivate = false }: ApprovalTextOptions,
  { isComplete, hasCommands }: { readonly isComplete: boolean; readonly hasCommands: boolean },
): string {
  const { domains = [], files = [], usual = [] } = subject;
  const isOmitted = (field: "binary" | "cwd" | "env") => !isComplete && usual.includes(field);
  const binary = isOmitted("binary") ? undefined : subject.binary;
  const cwd = isOmitted("cwd") ? undefined : subject.cwd;
  const env = isOmitted("env") ? {} : (subject.env ?? {});
  const isShown = isPrivate || subject.forOwners !== true;
  return phrases.question({
    id,
    agent,
    tool,
    reason,
    ...(requester === undefined ? {} : { requester: formatRequester(requester, phrases) }),
    action: isShown ? formatCodeBlock(subject.action) : phrases.actionForOwners(id),
    ...(binary === undefined ? {} : { program: formatCodeSpan(binary) }),
    ...(cwd === undefined ? {} : { folder: formatCodeSpan(cwd) }),
    hosts: domains.map(formatCodeSpan),
    files: files.map(({ path, sha256 }) => `${formatCodeSpan(path)} (sha256 ${sha256.slice(0, 16)})`),
    environment: Object.entries(env).map(([name, value]) => formatCodeSpan(`${name}=${value}`)),
    isComplete: isComplete || usual.length === 0,
    until: formatMinute(expiresAt),
    answers: hasCommands ? getCommands(id, subject.rules !== undefined) : [],
  });
}

/** Formats a requester as one sentence. Names become code, so that they cannot contain Markdown or mention people. */
function formatRequester(
  { id, name, isAutomatic, channel, conversation }: Requester,
  phrases: Phrases,
): string {
  const { kind, title } = conversation;
  return phrases.requestedBy({
    person: name === undefined ? formatCodeSpan(id) : `${formatCodeSpan(name)} (${formatCodeSpan(id)})`,
    isAutomatic: isAutomatic === true,
    channel,
    ...(kind === "direct" ? {} : { conversation: formatCodeSpan(title ?? conversation.id) }),
  });
}

function getCommands(id: string, canAllowAlways: boolean): readonly string[] {
  const answers = ["allow", ...(canAllowAlways ? ["allow-always"] : []), "deny"];
  return answers.map((answer, index) => `${index + 1}. /approve ${id} ${answer}`);
}

/** Formats a time as `2026-11-23 06:10 UTC`. */
function formatMinute(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
