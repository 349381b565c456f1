import {
  assertPoll,
  objectAt,
  objectsAt,
  type Payload,
  type PollPart,
  type PollResult,
  textAt,
} from "@signalbox/channel";
import { limits } from "../limits.ts";
import { FILE_MESSAGE, type Rendered } from "./render.ts";

/** A message that is a poll. */
export interface RenderedPoll extends Pick<Rendered, "allowed_mentions"> {
  readonly poll: {
    readonly question: { readonly text: string };
    readonly answers: readonly { readonly poll_media: { readonly text: string } }[];
    readonly duration: number;
    readonly allow_multiselect: boolean;
  };
}

/** Reads the current votes of a poll. */
export function readPollResult(message: Payload): PollResult {
  const poll = objectAt(message, "poll");
  const counts = new Map(
    objectsAt(objectAt(poll, "results"), "answer_counts").map(({ id, count }) => [id, Number(count)]),
  );
  return {
    options: objectsAt(poll, "answers").map((answer) => ({
      text: textAt(objectAt(answer, "poll_media"), "text") ?? "",
      // Discord omits answers without votes.
      votes: counts.get(answer["answer_id"]) ?? 0,
    })),
  };
}

/** @throws ChannelError `too_large` */
export function renderPoll(part: PollPart): RenderedPoll {
  const { question, options, multiple = false } = assertPoll(part, { polls: limits.poll });
  return {
    ...FILE_MESSAGE,
    poll: {
      question: { text: question.toWellFormed() },
      answers: options.map((text) => ({ poll_media: { text: text.toWellFormed() } })),
      duration: limits.pollHours,
      allow_multiselect: multiple,
    },
  };
}
