import type { Capabilities } from "../contract/capabilities.ts";
import { ChannelError } from "../contract/errors.ts";
import type { Outbound, PollPart } from "../contract/messages.ts";
import { outboundOf } from "./outbound.ts";

/** A poll as a channel takes it: the platform's own if it has polls of that size, otherwise numbered text. */
export function pollOutbound(poll: PollPart, capabilities: Capabilities): Outbound {
  if (refusesPoll(poll, capabilities) === undefined) return { parts: [poll] };
  const { question, options, multiple } = poll;
  const list = options.map((option, index) => `${index + 1}. ${option}`).join("\n");
  const how = multiple === true ? "Answer with one or more numbers." : "Answer with a number.";
  return outboundOf(`${question}\n\n${list}\n\n${how}`, undefined, capabilities);
}

/** For a channel: the poll, or why its platform would not have it. */
export function checkedPoll(poll: PollPart, capabilities: Pick<Capabilities, "polls">): PollPart {
  const why = refusesPoll(poll, capabilities);
  if (why === undefined) return poll;
  throw new ChannelError(capabilities.polls === undefined ? "unsupported" : "too_large", why);
}

function refusesPoll(
  { question, options }: PollPart,
  { polls }: Pick<Capabilities, "polls">,
): string | undefined {
  if (polls === undefined) return "there are no polls here";
  if (options.length < 2 || options.length > polls.options)
    return `a poll has 2 to ${polls.options} options here`;
  if (question.length > polls.questionLength)
    return `a poll's question holds at most ${polls.questionLength} characters`;
  return options.some((option) => option.length > polls.optionLength)
    ? `an option of a poll holds at most ${polls.optionLength} characters`
    : undefined;
}
