import {
  answeredIn,
  draftsBearNoKey,
  effectOf,
  furtherParts,
  isBlunt,
  isCommand,
  nameOf,
  REFUSED,
  readsConversation,
  readText,
  sideText,
  type Tag,
} from "./conversation.ts";
import type { Evidence, InboxFact, Post } from "./evidence.ts";
import { judgeComingBack } from "./judge-coming-back.ts";
import { judgeEffects } from "./judge-effects.ts";
import { judgeOrder } from "./judge-order.ts";
import { chatOf, editEvent, messageId } from "./platform.ts";
import { type Blame, type Conversations, ENDS, isStopped, shown, standing, textOf } from "./reading.ts";
import { asksForSummary, readConversation } from "./seen.ts";

/** What is to be said of a world. */
export interface Verdict {
  /** One sentence for each promise that was broken; its first word is the kind of the breach. */
  readonly violations: readonly string[];
  readonly messages: number;
  /** Edits and deletions. */
  readonly changes: number;
  readonly replies: number;
  /** Messages set aside because the process died under their run more than three times. */
  readonly poisoned: number;
  /** Tool calls whose outcome the model was told to be unknown. */
  readonly unknown: number;
  /** Commands in the background that began. */
  readonly background: number;
}

/** Holds every message against what the fake servers saw. */
export function judge(all: Evidence): Verdict {
  const violations: string[] = [];
  const blame = (text: string): void => void violations.push(text);
  const evidence = { ...all, posts: withoutLeftDrafts(all, blame) };
  const conversations = judgeModel(evidence, blame);
  const ends = judgeInbox(evidence, blame);
  judgeRest(evidence, blame);
  judgeDrafts(evidence, blame);
  judgeReplies(evidence, ends, blame);
  judgeChanges(evidence, ends, blame);
  judgeEffects(evidence, ends, conversations, blame);
  judgeComingBack(evidence, ends, conversations, blame);
  judgeSecrets(evidence, blame);
  violations.push(...evidence.odd.map((text) => `odd: ${text}`));
  return {
    violations,
    messages: evidence.acknowledged.length + evidence.unaddressed.length,
    changes: evidence.edits.length + evidence.deletions.length,
    replies: evidence.posts.length,
    poisoned: [...ends.values()].filter((end) => end.rule === "poison").length,
    unknown: conversations.unknown.size,
    background: evidence.ran.filter((line) => line.startsWith(effectOf("background", ""))).length,
  };
}

/**
 * On platforms where a draft bears no key, one whose sending was broken off stays as it was, beside the reply: at most
 * one for each time. The same applies to a draft whose key the platform has forgotten.
 */
function withoutLeftDrafts({ posts, outbox, breaks }: Evidence, blame: Blame): Post[] {
  const sent = new Set(outbox.flatMap(({ receipts }) => receipts.map(({ messageId: id }) => id)));
  const forgotten = new Set(
    outbox.flatMap(({ forgottenDraft: key }) => (key === undefined ? [] : [`${key}.0`])),
  );
  const isLeft = ({ channel, messageId: id, deleted, key = "" }: Post): boolean =>
    (draftsBearNoKey(channel) || forgotten.has(key)) && !deleted && !sent.has(id);
  for (const [channel, left] of Map.groupBy(posts.filter(isLeft), (post) => post.channel))
    if (left.length > breaks)
      blame(`draft: ${left.length} were left on ${channel}, and nothing broke off but ${breaks}`);
  return posts.filter((post) => !isLeft(post));
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
    // Of what was given up some parts may be out.
    if (state !== "sent" && state !== "dead") continue;
    for (const { part, messageId: id } of receipts) {
      const text = texts[part];
      if (text !== undefined) said.set(id, text);
    }
  }
  const unsure = shown(evidence);
  for (const { channel, messageId: id, content } of standing(evidence)) {
    if (readsConversation(channel)) continue;
    const text = said.get(id);
    const known = unsure.some((one) => content.length > 0 && includesText(one, content));
    if (text === undefined && isBlunt(channel) && known) continue;
    if (text === undefined) blame(`draft: nobody's: ${content}`);
    else if (!content.includes(JSON.stringify(text).slice(1, -1)))
      blame(`draft: ${content} stands where ${text} was to be said`);
  }
  for (const { content, earlier } of evidence.posts)
    for (const text of [content, ...earlier])
      if (text.includes("__")) blame(`silence: its token was shown: ${text}`);
}

/** Whether a message at the platform is a part of a text. */
function includesText(whole: string, content: string): boolean {
  return JSON.stringify(whole).includes(content.slice('{"text":"'.length, -2));
}

function judgeRest({ outbox, runsActive, damage }: Evidence, blame: Blame): void {
  if (runsActive > 0) blame(`open: ${runsActive} runs at rest`);
  for (const row of outbox) {
    if (row.state === "sent") continue;
    if (row.state === "uncertain" && isBlunt(row.channel)) continue;
    if (row.state === "dead" && textOf(row).includes(REFUSED)) continue;
    // Owners are told of what was given up two seconds later: at rest there was none that waited.
    if (row.state === "pending" && row.isNotice === true) continue;
    blame(`open: a reply on ${row.channel} is ${row.state} at rest: ${textOf(row)}`);
  }
  if (damage.length > 0) blame(`damaged: the database: ${damage.join("; ")}`);
}

/** Sessions are what the vendor takes, hold every message once, in order, and none of another session. */
function judgeModel(evidence: Evidence, blame: Blame): Conversations {
  const unknown = new Set<string>();
  const ended = new Set<string>();
  const failed = new Map<string, readonly string[]>();
  const judgeSaid = judgeOrder(evidence);
  for (const { body, status, text } of evidence.requests) {
    if (status !== 200) blame(`vendor: refused a request with ${status}: …${text.slice(-300)}`);
    if (asksForSummary(body)) continue;
    const seen = readConversation(body);
    for (const name of seen.unknown) unknown.add(name);
    for (const name of seen.ended) ended.add(name);
    for (const [name, what] of seen.failed) failed.set(name, what);
    const wrong = judgeSaid(seen);
    if (wrong !== undefined) blame(`order: ${wrong}: ${seen.said.map(nameOf).slice(-8).join(" ")}`);
  }
  return { unknown, ended, failed };
}

/** Every message has its reply exactly once, where it belongs, and nobody has one who wrote nothing. */
function judgeReplies(evidence: Evidence, ends: ReadonlyMap<string, InboxFact>, blame: Blame): void {
  const replies = new Map<string, Post[]>();
  const there = standing(evidence);
  for (const post of there) {
    if (isStopped(post)) continue;
    for (const name of answeredIn(post.content)) replies.set(name, [...(replies.get(name) ?? []), post]);
  }
  const keys = evidence.posts.flatMap(({ key }) => key ?? []);
  if (new Set(keys).size !== evidence.posts.length)
    blame("duplicate: two messages at the platform share a key, or one has none");
  const written = new Set(evidence.acknowledged.map(nameOf));
  for (const name of replies.keys()) if (!written.has(name)) blame(`unasked: ${name} was answered`);
  const gone = new Set(evidence.deletions.map(({ name }) => name));
  const reported = new Set(shown(evidence).flatMap(answeredIn));
  const dead = evidence.outbox.filter(({ state }) => state === "dead");
  const refused = new Set(dead.flatMap((row) => answeredIn(textOf(row))));
  const unsure = shown(evidence).join("\n");
  for (const tag of evidence.acknowledged) {
    const name = nameOf(tag);
    const end = ends.get(name);
    const found = replies.get(name) ?? [];
    // Said already.
    if (end === undefined || !ENDS.has(end.state)) continue;
    if (end.rule === "poison") {
      const told = there.some(
        ({ chatId, content }) => chatId === chatOf(tag.session) && content.includes("set it aside"),
      );
      if (!told && !unsure.includes("set it aside")) blame(`untold: ${name} was set aside without a word`);
      continue;
    }
    if (isCommand(tag.kind)) {
      judgeCommand(evidence, tag, end, blame);
      continue;
    }
    if (found.length > 1) blame(`duplicate: ${name} was answered ${found.length} times`);
    for (const { chatId } of found)
      if (chatId !== chatOf(tag.session)) blame(`misplaced: ${name} was answered in ${chatId}`);
    if (gone.has(name) && end.state === "ignored") continue;
    // A person may be told of it a moment later: until then it counts as unreported.
    const undelivered =
      (end.state === "failed-reported" || end.state === "unreported") && end.rule === "undelivered";
    // What shares its turn with one whose answer is refused shares its end, too, and may have said all before.
    const beside = dead.some((row) =>
      answeredIn(textOf(row)).some((one) => one.startsWith(`s${tag.session}.`)),
    );
    if (undelivered && beside) continue;
    if (end.state !== "replied" && end.state !== "silent") {
      blame(`state: ${name} is ${end.state} (${end.rule})`);
      continue;
    }
    // A turn that was stopped owes no answer; the next one may give it.
    // Nobody could know of a reply that was refused but from here.
    if (refused.has(name) && found.length === 0 && end.rule !== "stopped")
      blame(`state: ${name} is ${end.state}, and its reply did not arrive`);
    if (end.rule === "stopped" && (evidence.mode === "interrupt" || gone.has(name))) continue;
    if (found.length > 0 && end.state !== "replied") blame(`state: ${name} was answered and is ${end.state}`);
    if (found.length === 0 && !reported.has(name) && !echoOrSilence(there, unsure, tag))
      blame(`lost: ${name} (${tag.kind}, ${end.state}) has no reply at the platform`);
    if (tag.kind === "long" && end.state === "replied") judgeParts(there, unsure, name, blame);
  }
  if (evidence.mode === "interrupt") return;
  for (const [chatId, posts] of Map.groupBy(there, (post) => post.chatId)) {
    const numbers = posts
      .flatMap(({ content }) => answeredIn(content))
      .map((name) => Number(name.split(".")[1]));
    const late = numbers.findIndex((number, index) => number < (numbers[index - 1] ?? 0));
    if (late >= 0)
      blame(`order: in ${chatId} the answers are to ${numbers.slice(late - 1, late + 2).join(" ")}`);
  }
}

/** A command is carried out once: it has one answer. */
function judgeCommand(evidence: Evidence, tag: Tag, end: InboxFact, blame: Blame): void {
  const name = nameOf(tag);
  const id = messageId(name);
  const unsure = evidence.outbox.some(({ state, replyTo }) => state === "uncertain" && replyTo === id);
  const undelivered = end.rule === "undelivered" && unsure;
  if (end.state !== "replied" && !undelivered)
    blame(`state: the command ${name} is ${end.state} (${end.rule})`);
  const answers = standing(evidence).filter(({ replyTo }) => replyTo === id);
  if (answers.length > 1) blame(`duplicate: the command ${name} was answered ${answers.length} times`);
  if (answers.length === 0 && !unsure) blame(`lost: the command ${name} (${tag.kind}) was not answered`);
}

/** Each further part of a long answer stands there once. */
function judgeParts(there: readonly Post[], unsure: string, name: string, blame: Blame): void {
  for (const { mark } of furtherParts(name)) {
    const times = there.filter(({ content }) => content.includes(mark)).length;
    if (times > 1) blame(`duplicate: a part of the answer to ${name} stands there ${times} times`);
    if (times === 0 && !unsure.includes(mark)) blame(`lost: a part of the answer to ${name}`);
  }
}

/** What was changed in time is answered as it reads then; what was deleted in time is not answered. */
function judgeChanges(evidence: Evidence, ends: ReadonlyMap<string, InboxFact>, blame: Blame): void {
  const there = standing(evidence);
  const unsure = shown(evidence).join("\n");
  const asked = (name: string): boolean =>
    evidence.requests.some(({ body }) => readConversation(body).said.some((tag) => nameOf(tag) === name));
  for (const { name, at } of evidence.edits) {
    const end = ends.get(name);
    if (end === undefined || end.rule === "poison") continue;
    const late = evidence.inbox.find((row) => row.eventId === editEvent(name));
    if (late !== undefined && !ENDS.has(late.state))
      blame(`open: the edit of ${name} is ${late.state} at rest`);
    const read = there.filter((post) => !isStopped(post) && post.content.includes(readText(name))).length;
    if (read > 1) blame(`duplicate: the edit of ${name} was answered ${read} times`);
    const stopped = evidence.mode === "interrupt" && (late ?? end).rule === "stopped";
    const owed = end.revision > 0 || late !== undefined || (!evidence.wasTurned && (end.settledAt ?? 0) > at);
    if (owed && read === 0 && !stopped && late?.rule !== "poison" && !unsure.includes(readText(name)))
      blame(`lost: the edit of ${name}, which is ${end.state} (${end.rule ?? "no rule"})`);
  }
  for (const { name } of evidence.deletions) {
    const answers = there.filter(({ content }) => answeredIn(content).includes(name));
    if (ends.get(name)?.state === "ignored" && answers.length > 0 && !asked(name))
      blame(`deleted: ${name} was answered without being asked about`);
  }
}

/** No secret of the configuration is in a log, a question to the model or a message. */
function judgeSecrets({ logs, secrets, requests, posts }: Evidence, blame: Blame): void {
  const places = {
    "the log": logs,
    "a question to the model": requests.map(({ body }) => JSON.stringify(body)),
    "a message": posts.flatMap(({ content, earlier }) => [content, ...earlier]),
  };
  for (const [place, texts] of Object.entries(places))
    if (texts.some((text) => secrets.some((secret) => text.includes(secret))))
      blame(`secret: one stands in ${place}`);
}

/** Whether a message may have no reply of its own: silence was asked for, or the tool said it all. */
function echoOrSilence(there: readonly Post[], unsure: string, tag: Tag): boolean {
  if (tag.kind === "silent") return true;
  const text = sideText(nameOf(tag));
  if (tag.kind !== "echo" && tag.kind !== "retract") return false;
  return unsure.includes(text) || there.some(({ content }) => content.includes(text));
}
