import type { MessageInfo, Trace } from "@signalbox/protocol";
import { meaningOf } from "./rules.ts";

/** Why a message went as it did, the short way. */
export interface Explanation {
  /** One sentence: what became of it, and by which rule. */
  readonly sentence: string;
  /** What a model's provider said last, where that is why. */
  readonly said?: string;
  /** What to do where that is not as wanted. */
  readonly remedy?: string;
}

/** Explains a message by its end and its notes. */
export function explain({ message, entries }: Trace): Explanation {
  if (message === undefined) return { sentence: "Only notes are left of it: the message itself was pruned." };
  const { rule } = message;
  const meaning = rule === undefined ? undefined : meaningOf(rule);
  const end = endOf(message);
  const why = meaning === undefined ? "" : `: ${meaning.because}`;
  const said =
    message.state === "failed-reported"
      ? entries.findLast(({ stage }) => stage === "model")?.summary
      : undefined;
  const remedy = meaning?.remedy?.(message);
  return {
    sentence: `${end}${why}${rule === undefined ? "" : ` (${rule})`}.`,
    ...(said === undefined ? {} : { said }),
    ...(remedy === undefined ? {} : { remedy }),
  };
}

function endOf({ state, agent, reason }: MessageInfo): string {
  const who = agent === undefined ? "an agent" : `agent ${agent}`;
  switch (state) {
    case "accepted":
    case "queued":
      return `It waits for ${who}`;
    case "running":
      return `It is being answered by ${who}`;
    case "replied":
      return `It was answered by ${who}`;
    case "silent":
      return `It was heard by ${who}, and got no reply`;
    case "ignored":
      return "It was not answered";
    case "failed-reported":
      return `It could not be answered by ${who}${reason === undefined ? "" : `, ${reason.replace(/\.$/, "")}`}`;
    case "expired-reported":
      return "It was too old to be answered when it could have been";
  }
}
