import type { Capabilities } from "../contract/capabilities.ts";
import { ChannelError } from "../contract/errors.ts";
import type { Outbound, PollPart } from "../contract/messages.ts";
import { createOutbound } from "./create-outbound.ts";

/**
 * Creates the message for a poll: a platform poll if the channel supports one of this size, otherwise a numbered list.
 */
export function createPollOutbound(poll: PollPart, capabilities: Capabilities): Outbound {
  if (findPollProblem(poll, capabilities) === undefined) return { parts: [poll] };
  const { question, options, multiple } = poll;
  const list = options.map((option, index) => `${index + 1}. ${option}`).join("\n");
  const how = multiple === true ? "Answer with one or more numbers." : "Answer with a number.";
  return createOutbound(`${question}\n\n${list}\n\n${how}`, undefined, capabilities);
}

/** Returns the poll. @throws ChannelError if it exceeds the channel's capabilities */
export function assertPoll(poll: PollPart, capabilities: Pick<Capabilities, "polls">): PollPart {
  const problem = findPollProblem(poll, capabilities);
  if (problem === undefined) return poll;
  throw new ChannelError(capabilities.polls === undefined ? "unsupported" : "too_large", problem);
}

function findPollProblem(
  { question, options }: PollPart,
  { polls }: Pick<Capabilities, "polls">,
): string | undefined {
  if (polls === undefined) return "this platform has no polls";
  if (options.length < 2 || options.length > polls.options)
    return `a poll must have 2 to ${polls.options} options`;
  if (question.length > polls.questionLength)
    return `the question of a poll can have at most ${polls.questionLength} characters`;
  return options.some((option) => option.length > polls.optionLength)
    ? `an option of a poll can have at most ${polls.optionLength} characters`
    : undefined;
}
