import { checkedPoll, type PollPart } from "@signalbox/channel";
import { limits } from "../limits.ts";
import { type Rendered, withoutText } from "./render.ts";

/** A message that is a poll. */
export interface RenderedPoll extends Pick<Rendered, "allowed_mentions"> {
  readonly poll: {
    readonly question: { readonly text: string };
    readonly answers: readonly { readonly poll_media: { readonly text: string } }[];
    readonly duration: number;
    readonly allow_multiselect: boolean;
  };
}

/** @throws ChannelError `too_large` */
export function renderPoll(part: PollPart): RenderedPoll {
  const { question, options, multiple = false } = checkedPoll(part, { polls: limits.poll });
  return {
    ...withoutText,
    poll: {
      question: { text: question.toWellFormed() },
      answers: options.map((text) => ({ poll_media: { text: text.toWellFormed() } })),
      duration: limits.pollHours,
      allow_multiselect: multiple,
    },
  };
}
