import { type Phrases, phrasesIn } from "@signalbox/phrases";
import type { MessageInfo, Trace } from "@signalbox/protocol";
import { meaningOf } from "./rules.ts";

/** A short explanation of the outcome of a message. */
export interface Explanation {
  /** One sentence with the outcome and the rule that decided it. */
  readonly sentence: string;
  /** The last trace entry about its model: the model that answered, or the error of its provider. */
  readonly said?: string;
  /** The setting or action that changes the outcome, if there is one. */
  readonly remedy?: string;
}

/** Final states of messages for which a model was called. */
const ANSWERED: ReadonlySet<MessageInfo["state"]> = new Set([
  "sending",
  "uncertain",
  "replied",
  "failed-reported",
  "unreported",
]);

/** Explains the outcome of a message from its final state and its trace. */
export function explain({ message, entries }: Trace, phrases: Phrases = phrasesIn("en")): Explanation {
  const { why } = phrases;
  if (message === undefined) return { sentence: why.pruned };
  const { rule, state } = message;
  if (state === "sending" || state === "uncertain")
    return {
      sentence: why.sentence(capitalize(endOf(message, phrases)), undefined, undefined),
      remedy: why.remedies[state],
    };
  const meaning = rule === undefined ? undefined : meaningOf(rule, phrases);
  const said = ANSWERED.has(message.state) ? entries.findLast(isAboutModel)?.summary : undefined;
  const remedy = meaning?.remedy?.(message);
  return {
    sentence: why.sentence(endOf(message, phrases), meaning?.because, rule),
    said,
    remedy,
  };
}

/** Entries about models and tools have the same stage. */
function isAboutModel({ stage, data }: Trace["entries"][number]): boolean {
  return stage === "run" && typeof data === "object" && data !== null && Reflect.get(data, "of") === "model";
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function endOf({ state, agent, reason }: MessageInfo, { why }: Phrases): string {
  const who = agent === undefined ? why.anAgent : why.agent(agent);
  return why.states[state](who, reason?.replace(/\.$/, ""));
}
