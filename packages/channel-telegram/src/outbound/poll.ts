import { assertPoll, type PollPart } from "@signalbox/channel";
import type { TelegramApi } from "../api.ts";
import { limits } from "../limits.ts";
import type { Target } from "../media.ts";

/** Sends an anonymous poll. */
export function sendPoll(
  api: TelegramApi,
  target: Target,
  part: PollPart,
  signal: AbortSignal,
): Promise<{ readonly message_id: number }> {
  const { question, options, multiple = false } = assertPoll(part, { polls: limits.poll });
  return api.call({ what: "sending a poll", write: true, signal }, (raw) =>
    raw.sendPoll({
      ...target,
      question: question.toWellFormed(),
      options: options.map((text) => ({ text: text.toWellFormed() })),
      allows_multiple_answers: multiple,
    }),
  );
}
