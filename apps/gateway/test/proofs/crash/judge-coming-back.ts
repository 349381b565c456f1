import { effectOf, heardText, nameOf, type Tag } from "./conversation.ts";
import type { ComingBack, Evidence, InboxFact } from "./evidence.ts";
import { type Blame, type Conversations, ENDS, INJECTED, isStopped, shown, standing } from "./reading.ts";

/** What was scheduled comes once, and so does what a sub-agent was given and reports; each is heard once. */
export function judgeComingBack(
  evidence: Evidence,
  ends: ReadonlyMap<string, InboxFact>,
  { unknown, failed }: Conversations,
  blame: Blame,
): void {
  for (const tag of evidence.acknowledged) {
    const kinds = COMES_BACK.get(tag.kind);
    if (kinds === undefined) continue;
    const name = nameOf(tag);
    const end = ends.get(name);
    const [told = ""] = failed.get(name) ?? [];
    const isExcused = unknown.has(name) || INJECTED.test(told) || end?.rule === "poison";
    // What a newer message stopped in time asked for nothing.
    const mayBeMissing =
      isExcused || end?.state !== "replied" || (evidence.mode === "interrupt" && end.rule === "stopped");
    let isOpen = mayBeMissing;
    for (const kind of kinds) isOpen = judgeOne(evidence, { tag, kind, mayBeMissing: isOpen }, blame);
  }
}

const COMES_BACK: ReadonlyMap<Tag["kind"], readonly ComingBack["kind"][]> = new Map([
  ["schedule", ["wake"]],
  ["delegate", ["task", "report"]],
]);

interface Expected {
  readonly tag: Tag;
  readonly kind: ComingBack["kind"];
  readonly mayBeMissing: boolean;
}

/** Whether what follows from it may be missing. */
function judgeOne(evidence: Evidence, { tag, kind, mayBeMissing }: Expected, blame: Blame): boolean {
  const name = nameOf(tag);
  const [came, ...more] = evidence.comingBack.filter((each) => each.name === name && each.kind === kind);
  if (more.length > 0) blame(`twice: the ${kind} of ${name} came ${more.length + 1} times`);
  if (came === undefined) {
    if (!mayBeMissing) blame(`lost: the ${kind} of ${name} did not come`);
    return true;
  }
  if (!ENDS.has(came.state)) blame(`open: the ${kind} of ${name} is ${came.state} at rest`);
  const gaveWay = came.rule === "poison" || (evidence.mode === "interrupt" && came.rule === "stopped");
  if (kind === "task") {
    if (!evidence.ran.includes(effectOf(tag.kind, name)) && !gaveWay && !mayBeMissing)
      blame(`lost: the task of ${name}, which is ${came.state}, was not done`);
    return gaveWay;
  }
  const heard = heardText(kind, name);
  const times = standing(evidence).filter((post) => !isStopped(post) && post.content.includes(heard)).length;
  if (times > 1) blame(`duplicate: the ${kind} of ${name} was answered ${times} times`);
  const isReported = shown(evidence).join("\n").includes(heard);
  if (times === 0 && !gaveWay && !isReported)
    blame(`lost: the ${kind} of ${name}, which is ${came.state}, was not answered`);
  return gaveWay;
}
