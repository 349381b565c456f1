import { effectOf, heardEffectOf, nameOf, sideText } from "./conversation.ts";
import type { Evidence, InboxFact } from "./evidence.ts";
import { type Blame, type Conversations, INJECTED, NOT_IN_BACKGROUND, shown, standing } from "./reading.ts";

/**
 * What it is told where a newer message stopped the run beside the tool: that it did not begin, was at work, or what it
 * said itself when it was stopped. A kill behind that step has the run go on and tell the model.
 */
const STOPPED = /the run was stopped first|The run was stopped while|\[stopped before it finished\]/;

/** Nothing with outside effects happened twice; what did not happen was not said to have happened. */
export function judgeEffects(
  evidence: Evidence,
  ends: ReadonlyMap<string, InboxFact>,
  { unknown, ended, failed }: Conversations,
  blame: Blame,
): void {
  const there = standing(evidence);
  const unsure = shown(evidence).join("\n");
  for (const tag of evidence.acknowledged) {
    const name = nameOf(tag);
    const sayings = there.filter(({ content }) => content.includes(sideText(name)));
    const said = sayings.length;
    const ran = evidence.ran.filter((line) => line === effectOf(tag.kind, name)).length;
    const end = ends.get(name);
    // What was set aside, or gave way to a newer message, after the tool had said it is still open to the model, which
    // may say it in the answer to the next message.
    const gaveWay = evidence.mode === "interrupt" && end?.rule === "stopped";
    const doubt = end?.rule === "poison" || gaveWay ? 1 : 0;
    if (said > 1 + doubt)
      blame(
        `blind: ${name} (${tag.kind}, ${end?.state} ${end?.rule ?? ""}) was said ${said} times by the message tool or after it: ${sayings.map(({ messageId: id, content }) => `${id} ${content}`).join(" | ")}`,
      );
    if (ran > 1) blame(`blind: the command of ${name} ran ${ran} times`);
    const heard = evidence.ran.filter((line) => line === heardEffectOf(name)).length;
    if (heard > 1) blame(`blind: the command of ${name} was given its word ${heard} times`);
    if (ended.has(name) && (ran === 0 || heard === 0))
      blame(`lost: the command of ${name}, which ended well, did nothing`);
    const failures = failed.get(name) ?? [];
    // A call that failed makes others fail: what is not there cannot be read.
    const [told = ""] = failures;
    const stopped = gaveWay || (evidence.mode === "interrupt" && STOPPED.test(told));
    const isGone = tag.kind === "background" && NOT_IN_BACKGROUND.test(told);
    const excused = unknown.has(name) || stopped || isGone || end?.rule === "poison" || INJECTED.test(told);
    if (failures.length > 0 && !excused) blame(`failed: a tool of ${name}: ${failures.join(" | ")}`);
    if (excused) continue;
    if (["send", "echo", "steps"].includes(tag.kind) && said === 0 && !unsure.includes(sideText(name)))
      blame(`lost: ${name} was not said by the message tool`);
    if (["exec", "steps", "enter"].includes(tag.kind) && ran === 0)
      blame(`lost: the command of ${name} did not run`);
    if (["write", "steps"].includes(tag.kind) && !evidence.notes.has(name))
      blame(`lost: the file of ${name} is missing`);
  }
}
