import { answeredIn, nameOf, readConversation, sideText, type Tag } from "./conversation.ts";
import type { Evidence, InboxFact, Post } from "./evidence.ts";
import { chatOf, messageId } from "./platform.ts";

/** What is to be said of a world. */
export interface Verdict {
  /** One sentence for each promise that was broken; its first word is the kind of the breach. */
  readonly violations: readonly string[];
  readonly messages: number;
  readonly replies: number;
  /** Messages set aside because the process died under their run more than three times. */
  readonly poisoned: number;
  /** Tool calls whose outcome the model was told to be unknown. */
  readonly unknown: number;
}

/** What the model is told where a failpoint or a full disk kept a tool from its work. */
const INJECTED = /failpoint|No space left|ENOSPC/;

const ENDS = new Set(["replied", "silent", "ignored", "failed-reported", "expired-reported"]);

/** Holds every message against what the stand-ins saw. */
export function judge(evidence: Evidence): Verdict {
  const violations: string[] = [];
  const blame = (text: string): void => void violations.push(text);
  const conversations = judgeModel(evidence, blame);
  const ends = judgeInbox(evidence, blame);
  judgeRest(evidence, blame);
  judgeDrafts(evidence, blame);
  judgeReplies(evidence, ends, blame);
  judgeEffects(evidence, ends, conversations, blame);
  violations.push(...evidence.odd.map((text) => `odd: ${text}`));
  return {
    violations,
    messages: evidence.acknowledged.length + evidence.unaddressed.length,
    replies: evidence.posts.length,
    poisoned: [...ends.values()].filter((end) => end.rule === "poison").length,
    unknown: conversations.unknown.size,
  };
}

type Blame = (text: string) => void;

function standing({ posts }: Evidence): Post[] {
  return posts.filter((post) => !post.deleted);
}

/** Acknowledged means committed, and ended in exactly one way. */
function judgeInbox(evidence: Evidence, blame: Blame): Map<string, InboxFact> {
  const ends = new Map<string, InboxFact>();
  const rows = Map.groupBy(
    evidence.inbox.filter(({ kind }) => kind === "message"),
    (row) => row.messageId,
  );
  const expected = [
    ...evidence.acknowledged.map((tag) => ({ name: nameOf(tag), id: messageId(nameOf(tag)) })),
    ...evidence.unaddressed.map((id) => ({ name: id, id })),
  ];
  for (const { name, id } of expected) {
    const [row, ...more] = rows.get(id) ?? [];
    if (row === undefined) {
      blame(`lost: ${name} was acknowledged and is not in the inbox`);
      continue;
    }
    if (more.length > 0) blame(`twice: ${name} is in the inbox ${more.length + 1} times`);
    if (!ENDS.has(row.state)) blame(`open: ${name} is ${row.state} at rest`);
    ends.set(name, row);
  }
  for (const id of evidence.unaddressed)
    if (ends.get(id)?.state !== "ignored") blame(`unaddressed: ${id} is ${ends.get(id)?.state}`);
  return ends;
}

/** What stands at the platform is what was to be said there: no draft is left as it was. */
function judgeDrafts(evidence: Evidence, blame: Blame): void {
  const said = new Map<unknown, string>();
  for (const { state, texts, receipts } of evidence.outbox) {
    if (state !== "sent") continue;
    for (const { part, messageId: id } of receipts) {
      const text = texts[part];
      if (text !== undefined) said.set(id, text);
    }
  }
  for (const { messageId: id, content } of standing(evidence)) {
    const text = said.get(id);
    if (text === undefined) blame(`draft: nobody's: ${content}`);
    else if (!content.includes(JSON.stringify(text).slice(1, -1)))
      blame(`draft: ${content} stands where ${text} was to be said`);
  }
  for (const { content, earlier } of evidence.posts)
    if ([content, ...earlier].some((text) => text.includes("__"))) blame("silence: its token was shown");
}

function judgeRest({ outbox, runsActive, damage }: Evidence, blame: Blame): void {
  if (runsActive > 0) blame(`open: ${runsActive} runs at rest`);
  for (const [state, rows] of Map.groupBy(outbox, (row) => row.state))
    if (state !== "sent") blame(`open: ${rows.length} replies are ${state} at rest`);
  if (damage.length > 0) blame(`damaged: the database: ${damage.join("; ")}`);
}

interface Conversations {
  /** Messages one of whose calls the model was told to have an unknown outcome. */
  readonly unknown: ReadonlySet<string>;
  /** Messages one of whose calls failed, with what the model was told. */
  readonly failed: ReadonlyMap<string, string>;
}

/** Sessions are what the vendor takes, hold every message once, in order, and none of another session. */
function judgeModel({ requests }: Evidence, blame: Blame): Conversations {
  const unknown = new Set<string>();
  const failed = new Map<string, string>();
  for (const { body, status, text } of requests) {
    if (status !== 200) blame(`vendor: refused a request with ${status}: …${text.slice(-300)}`);
    const seen = readConversation(body);
    for (const name of seen.unknown) unknown.add(name);
    for (const [name, what] of seen.failed) failed.set(name, what);
    const { said } = seen;
    const broken = said.findIndex(
      (tag, index) => tag.number !== index + 1 || tag.session !== said[0]?.session,
    );
    if (broken >= 0) blame(`order: a request says ${said.map(nameOf).slice(-8).join(" ")}`);
  }
  return { unknown, failed };
}

/** Every message has its reply exactly once, where it belongs, and nobody has one who wrote nothing. */
function judgeReplies(evidence: Evidence, ends: ReadonlyMap<string, InboxFact>, blame: Blame): void {
  const replies = new Map<string, Post[]>();
  const there = standing(evidence);
  for (const post of there)
    for (const name of answeredIn(post.content)) replies.set(name, [...(replies.get(name) ?? []), post]);
  const keys = evidence.posts.flatMap(({ key }) => key ?? []);
  if (new Set(keys).size !== evidence.posts.length)
    blame("duplicate: two messages at the platform share a key, or one has none");
  const written = new Set(evidence.acknowledged.map(nameOf));
  for (const name of replies.keys()) if (!written.has(name)) blame(`unasked: ${name} was answered`);
  for (const tag of evidence.acknowledged) {
    const name = nameOf(tag);
    const end = ends.get(name);
    const found = replies.get(name) ?? [];
    if (end?.rule === "poison") {
      const told = there.some(
        ({ chatId, content }) => chatId === chatOf(tag.session) && content.includes("set it aside"),
      );
      if (!told) blame(`untold: ${name} was set aside without a word`);
      continue;
    }
    // Said already.
    if (end === undefined || !ENDS.has(end.state)) continue;
    if (end.state !== "replied" && end.state !== "silent") {
      blame(`state: ${name} is ${end.state} (${end.rule})`);
      continue;
    }
    const others = echoOrSilence(there, tag);
    if (found.length > 1) blame(`duplicate: ${name} was answered ${found.length} times`);
    if (found.length === 0 && !others)
      blame(`lost: ${name} (${tag.kind}, ${end.state}) has no reply at the platform`);
    if (found.length > 0 && end.state !== "replied") blame(`state: ${name} was answered and is ${end.state}`);
    for (const { chatId } of found)
      if (chatId !== chatOf(tag.session)) blame(`misplaced: ${name} was answered in ${chatId}`);
  }
  for (const [chatId, posts] of Map.groupBy(there, (post) => post.chatId)) {
    const numbers = posts
      .flatMap(({ content }) => answeredIn(content))
      .map((name) => Number(name.split(".")[1]));
    const late = numbers.findIndex((number, index) => number < (numbers[index - 1] ?? 0));
    if (late >= 0)
      blame(`order: in ${chatId} the answers are to ${numbers.slice(late - 1, late + 2).join(" ")}`);
  }
}

/** Whether a message may have no reply of its own: silence was asked for, or the tool said it all. */
function echoOrSilence(there: readonly Post[], tag: Tag): boolean {
  if (tag.kind === "silent") return true;
  const text = sideText(nameOf(tag));
  return (
    (tag.kind === "echo" || tag.kind === "retract") && there.some(({ content }) => content.includes(text))
  );
}

/** Nothing with outside effects happened twice; what did not happen was not said to have happened. */
function judgeEffects(
  evidence: Evidence,
  ends: ReadonlyMap<string, InboxFact>,
  { unknown, failed }: Conversations,
  blame: Blame,
): void {
  const there = standing(evidence);
  for (const tag of evidence.acknowledged) {
    const name = nameOf(tag);
    const sayings = there.filter(({ content }) => content.includes(sideText(name)));
    const said = sayings.length;
    const ran = evidence.ran.filter((line) => line === name).length;
    const end = ends.get(name);
    // What was set aside after the tool had said it is still open to the model, which may say it in the answer to the
    // next message.
    const doubt = end?.rule === "poison" ? 1 : 0;
    if (said > 1 + doubt)
      blame(
        `blind: ${name} (${tag.kind}, ${end?.state} ${end?.rule ?? ""}) was said ${said} times by the message tool or after it: ${sayings.map(({ messageId: id, content }) => `${id} ${content}`).join(" | ")}`,
      );
    if (ran > 1) blame(`blind: the command of ${name} ran ${ran} times`);
    const excused = unknown.has(name) || end?.rule === "poison" || INJECTED.test(failed.get(name) ?? "");
    if (failed.has(name) && !excused) blame(`failed: a tool of ${name}: ${failed.get(name)}`);
    if (excused) continue;
    if (["send", "echo", "steps"].includes(tag.kind) && said === 0)
      blame(`lost: ${name} was not said by the message tool`);
    if (["exec", "steps"].includes(tag.kind) && ran === 0) blame(`lost: the command of ${name} did not run`);
    if (["write", "steps"].includes(tag.kind) && !evidence.notes.has(name))
      blame(`lost: the file of ${name} is missing`);
  }
}
