import { reasonOf } from "@signalbox/agent-core";
import type { MessageEvent } from "@signalbox/channel";
import { type Choice, type DeliveryLogger, type Questions, questionKey } from "@signalbox/delivery";
import {
  type Approval,
  type Inquiries,
  type InquiryEnd,
  inquiryChoices,
  inquiryEnding,
  inquiryText,
  questionText,
  type Role,
  type UserQuestion,
} from "@signalbox/tools";

/** The run that asks, and for whom. */
export interface AskingRun {
  readonly runId: string;
  readonly sessionKey: string;
  /** The message that it answers. */
  readonly event: MessageEvent;
  readonly speaker: string;
  readonly role: Role;
}

export interface AskingPorts<Run extends AskingRun> {
  readonly questions: Questions;
  readonly inquiries: Inquiries;
  /** Shows a text to clients that read the conversation themselves. */
  readonly show: (run: Run, id: string, text: string, choices?: readonly string[]) => void;
  /** Whether that is why a wait was broken off: the next process goes on with it. */
  readonly isShutdown: (reason: unknown) => boolean;
  readonly logger: Pick<DeliveryLogger, "error">;
}

/** How the tools of agents ask people, in the conversation that it came up in. */
export interface Asking<Run extends AskingRun> {
  /** Asks whether a call may be made. That it could not be asked is logged: whoever waits is told at its end. */
  forApproval(approval: Approval, run: Run): Promise<void>;
  /** Says how that was decided. */
  decided(approval: Approval): Promise<void>;
  /**
   * Puts a question to the person that the run works for, and waits for its end. The question and its end outlive the
   * process, so that a call made again is the same question.
   */
  forAnswer(
    question: UserQuestion,
    run: Run,
    call: { readonly callId: string; readonly signal: AbortSignal },
  ): Promise<InquiryEnd>;
}

const DECISIONS: readonly Choice[] = [
  { label: "Allow", style: "primary", answer: "allow" },
  { label: "Deny", style: "danger", answer: "deny" },
];

export function createAsking<Run extends AskingRun>(ports: AskingPorts<Run>): Asking<Run> {
  const { questions, inquiries, show, logger } = ports;
  return {
    async forApproval(approval, run) {
      const { id, expiresAt } = approval;
      const text = questionText(approval);
      show(run, questionKey(id), text);
      await questions
        .put({ id, text, kind: "approve", choices: DECISIONS, expiresAt }, run.event, run.sessionKey)
        .catch((error: unknown) =>
          logger.error({ approval: id, err: reasonOf(error) }, "a question could not be put"),
        );
    },
    decided: ({ id, state }) => questions.close(id, state === "denied" ? "Denied." : "Allowed."),
    async forAnswer(question, run, { callId, signal }) {
      const inquiry = await openInquiry(ports, question, run, callId);
      const { id, expiresAt, end: endedBefore } = inquiry;
      if (endedBefore === undefined) {
        const text = inquiryText(inquiry);
        show(run, questionKey(id), text, question.options);
        const ownWords = question.options.length === 0 ? "Answer" : "Other answer";
        const choices = inquiryChoices(question.options);
        await questions.put(
          { id, text, kind: "answer", choices, ownWords, expiresAt },
          run.event,
          run.sessionKey,
        );
      }
      const end = await inquiries.wait(id, signal);
      if (end === undefined && ports.isShutdown(signal.reason)) throw signal.reason;
      if (end === undefined) await inquiries.close(id, "stopped");
      await questions.close(id, inquiryEnding(end ?? { kind: "stopped" }));
      return end ?? { kind: "stopped" };
    },
  };
}

function openInquiry<Run extends AskingRun>(
  { inquiries }: AskingPorts<Run>,
  { question, options, ttlMs }: UserQuestion,
  { runId, sessionKey, speaker, role }: Run,
  callId: string,
) {
  return inquiries.open({
    call: `${runId} ${callId}`,
    sessionKey,
    speaker,
    role,
    question,
    options,
    ttlMs,
  });
}
