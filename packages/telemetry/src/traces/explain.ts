import { type Phrases, phrasesIn } from "@signalbox/phrases";
import type { MessageInfo, Trace } from "@signalbox/protocol";
import { meaningOf } from "./rules.ts";

/** Why a message went as it did, the short way. */
export interface Explanation {
  /** One sentence: what happened to it, and by which rule. */
  readonly sentence: string;
  /** What was noted of its model last: which one answered, or what its provider said. */
  readonly said?: string;
  /** What to do where that is not as wanted. */
  readonly remedy?: string;
}

/** Ends of messages that a model was asked about. */
const ANSWERED: ReadonlySet<MessageInfo["state"]> = new Set(["replied", "failed-reported"]);

/** Explains a message by its end and its notes. */
export function explain({ message, entries }: Trace, phrases: Phrases = phrasesIn("en")): Explanation {
  const { why } = phrases;
  if (message === undefined) return { sentence: why.pruned };
  const { rule } = message;
  const meaning = rule === undefined ? undefined : meaningOf(rule, phrases);
  const said = ANSWERED.has(message.state) ? entries.findLast(isAboutModel)?.summary : undefined;
  const remedy = meaning?.remedy?.(message);
  return {
    sentence: why.sentence(endOf(message, phrases), meaning?.because, rule),
    ...(said === undefined ? {} : { said }),
    ...(remedy === undefined ? {} : { remedy }),
  };
}

/** A run's notes about its model and its tools have the same stage. */
function isAboutModel({ stage, data }: Trace["entries"][number]): boolean {
  return stage === "run" && typeof data === "object" && data !== null && Reflect.get(data, "of") === "model";
}

function endOf({ state, agent, reason }: MessageInfo, { why }: Phrases): string {
  const who = agent === undefined ? why.anAgent : why.agent(agent);
  return why.states[state](who, reason?.replace(/\.$/, ""));
}
