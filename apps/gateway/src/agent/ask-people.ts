import { reasonOf } from "@signalbox/agent-core";
import type { MessageEvent } from "@signalbox/channel";
import { type Choice, getQuestionKey, type Question, type Questions } from "@signalbox/delivery";
import type { Phrases } from "@signalbox/phrases";
import type { Logger, RunId } from "@signalbox/store";
import {
  type Approval,
  type AskUserRequest,
  formatShortApproval,
  formatUserQuestion,
  formatUserQuestionOutcome,
  getAnswerChoices,
  type Role,
  type UserQuestionOutcome,
  type UserQuestions,
} from "@signalbox/tools";
import type { Written } from "../configure/get-phrases.ts";

/** A run that asks a person a question. */
export interface PromptingRun {
  readonly runId: RunId;
  readonly sessionKey: string;
  readonly agent: { readonly id: string };
  /** The message that the run answers. */
  readonly event: MessageEvent;
  readonly speaker: string;
  readonly role: Role;
}

export interface UserPromptServices<Run extends PromptingRun> {
  readonly questions: Questions;
  readonly userQuestions: UserQuestions;
  /** Completes the message that shows the answer so far, so that the rest of the answer appears below a question. */
  readonly startNewMessage: (runId: RunId) => Promise<void>;
  /** Sends a question to every owner in a direct message. */
  readonly askOwners: (create: (phrases: Phrases) => Question) => Promise<void>;
  /** Returns the owners, as `channel:id`. */
  readonly owners: () => readonly string[];
  /** The phrases for the sender of a message to an agent. */
  readonly phrasesOf: (written: Written) => Phrases;
  /** Sends a message to clients that read the conversation directly. */
  readonly show: (run: Run, id: string, text: string, choices?: readonly string[]) => void;
  /** Returns true if a wait was aborted because the gateway is shutting down. The next process continues the wait. */
  readonly isShutdown: (reason: unknown) => boolean;
  readonly logger: Pick<Logger, "error">;
}

/** Asks people on behalf of tools, in the run's conversation. */
export interface UserPrompts<Run extends PromptingRun> {
  /**
   * Sends an approval request to the run's conversation. If the run works for a member or a guest, every owner also
   * gets it in a direct message. Failures are logged. The waiting call ends when the request expires.
   */
  forApproval(approval: Approval, run: Run): Promise<void>;
  /** Replaces the buttons of an approval request that was decided or has expired. */
  ended(approval: Approval): Promise<void>;
  /**
   * Asks the person whom the run works for a question and waits for the outcome. The question and its outcome survive
   * the process, so a repeated call gets the same question.
   */
  forAnswer(
    request: AskUserRequest,
    run: Run,
    call: { readonly callId: string; readonly signal: AbortSignal },
  ): Promise<UserQuestionOutcome>;
}

export function createUserPrompts<Run extends PromptingRun>(
  ports: UserPromptServices<Run>,
): UserPrompts<Run> {
  const { questions, userQuestions, show, phrasesOf, logger } = ports;
  const phrasesTo = ({ agent, event }: Run) => phrasesOf({ agentId: agent.id, stored: { event } });
  /** The language of each open approval request. */
  const asked = new Map<string, Phrases>();
  return {
    async forApproval(approval, run) {
      const { id, tool, expiresAt } = approval;
      const phrases = phrasesTo(run);
      asked.set(id, phrases);
      const { role, event } = run;
      const isForOthers = role === "member" || role === "guest";
      // Only owners can decide, so this conversation gets no buttons.
      const isUndecidable = isForOthers && event.conversation.kind === "direct";
      const canAllowAlways = approval.subject.rules !== undefined;
      const request: Pick<Question, "text" | "withoutButtons" | "choices"> = isUndecidable
        ? { text: phrases.waitsForOwner(id, tool), choices: [] }
        : { ...formatShortApproval(approval, { phrases }), choices: decisionsIn(phrases, canAllowAlways) };
      await startNewMessage(ports, run);
      // Owners decide at the card of the page or in `signalbox chat`, which show the request themselves.
      if (isUndecidable) show(run, getQuestionKey(id), request.text);
      const toOwner = (theirs: Phrases): Question => ({
        ...{ id, kind: "approve", expiresAt },
        ...formatShortApproval(approval, { phrases: theirs, isPrivate: true }),
        choices: decisionsIn(theirs, canAllowAlways),
      });
      await Promise.all([
        questions.put({ id, ...request, kind: "approve", expiresAt }, event, run.sessionKey),
        isForOthers ? ports.askOwners(toOwner) : undefined,
      ]).catch((error: unknown) =>
        logger.error({ approval: id, err: reasonOf(error) }, "an approval request could not be sent"),
      );
    },
    ended({ id, state, agentId, subject }) {
      // If an earlier process requested the approval, only the action is available.
      const phrases = asked.get(id) ?? phrasesOf({ agentId, stored: { event: { text: subject.action } } });
      asked.delete(id);
      return questions.close(id, approvalEnding(state, phrases), ports.owners());
    },
    async forAnswer(request, run, { callId, signal }) {
      const question = await openUserQuestion(ports, request, run, callId);
      const { id, expiresAt, outcome: earlier } = question;
      const phrases = phrasesTo(run);
      if (earlier === undefined) {
        const text = formatUserQuestion(question, phrases);
        await startNewMessage(ports, run);
        show(run, getQuestionKey(id), text, question.options);
        const ownWords = question.options.length === 0 ? phrases.answer : phrases.otherAnswer;
        const choices = getAnswerChoices(question.options);
        await questions.put(
          { id, text, kind: "answer", choices, ownWords, expiresAt },
          run.event,
          run.sessionKey,
        );
      }
      const outcome = await userQuestions.wait(id, signal);
      if (outcome === undefined && ports.isShutdown(signal.reason)) throw signal.reason;
      if (outcome === undefined) await userQuestions.close(id, "stopped");
      await questions.close(id, formatUserQuestionOutcome(outcome ?? { kind: "stopped" }, phrases));
      return outcome ?? { kind: "stopped" };
    },
  };
}

/** If this fails, the question is still sent, and the rest of the answer may appear above it. */
async function startNewMessage<Run extends PromptingRun>(
  { startNewMessage: start, logger }: UserPromptServices<Run>,
  { runId }: Run,
): Promise<void> {
  await start(runId).catch((error: unknown) =>
    logger.error({ run: runId, err: reasonOf(error) }, "an answer could not be completed above a question"),
  );
}

/** Returns the text that replaces the buttons of a decided approval request. */
function approvalEnding(state: Approval["state"], { allowed, denied, undecided }: Phrases): string {
  if (state === "expired") return undecided;
  return state === "denied" ? denied : allowed;
}

function decisionsIn({ allow, allowAlways, deny }: Phrases, canAllowAlways: boolean): readonly Choice[] {
  return [
    { label: allow, style: "primary", answer: "allow" },
    ...(canAllowAlways ? [{ label: allowAlways, answer: "allow-always" }] : []),
    { label: deny, style: "danger", answer: "deny" },
  ];
}

function openUserQuestion<Run extends PromptingRun>(
  { userQuestions }: UserPromptServices<Run>,
  { question, options, ttlMs }: AskUserRequest,
  { runId, sessionKey, speaker, role }: Run,
  callId: string,
) {
  return userQuestions.open({
    call: `${runId} ${callId}`,
    sessionKey,
    speaker,
    role,
    question,
    options,
    ttlMs,
  });
}
