import { type Questions, questionKey } from "@signalbox/delivery";
import {
  type Inquiries,
  type InquiryEnd,
  inquiryChoices,
  inquiryEnding,
  inquiryText,
  type UserQuestion,
} from "@signalbox/tools";
import { ShutdownAbort } from "../shutdown.ts";
import { type SpeakingOptions, show } from "./speaking.ts";
import type { ToolRun } from "./tool-run.ts";

/**
 * What the tool for asking does: puts a question to the person that the run works for, and waits for its end. The
 * question and its end outlive the process, so that a call made again is the same question.
 */
export function createAskUser(options: SpeakingOptions, questions: Questions, inquiries: Inquiries) {
  return async (
    { question, options: answers, ttlMs }: UserQuestion,
    run: ToolRun,
    { callId, signal }: { readonly callId: string; readonly signal: AbortSignal },
  ): Promise<InquiryEnd> => {
    const { runId, sessionKey, speaker, role, event } = run;
    const call = `${runId} ${callId}`;
    const asked = { sessionKey, speaker, role, question, options: answers };
    const inquiry = await inquiries.open({ ...asked, call, ttlMs });
    const { id, expiresAt, end: endedBefore } = inquiry;
    if (endedBefore === undefined) {
      const text = inquiryText(inquiry);
      show(options, run, questionKey(id), text, answers);
      const ownWords = answers.length === 0 ? "Answer" : "Other answer";
      await questions.put(
        { id, text, kind: "answer", choices: inquiryChoices(answers), ownWords, expiresAt },
        event,
        sessionKey,
      );
    }
    const end = await inquiries.wait(id, signal);
    // The next process goes on to wait.
    if (end === undefined && signal.reason instanceof ShutdownAbort) throw signal.reason;
    if (end === undefined) await inquiries.close(id, "stopped");
    await questions.close(id, inquiryEnding(end ?? { kind: "stopped" }));
    return end ?? { kind: "stopped" };
  };
}
