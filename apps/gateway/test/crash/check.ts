import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "@signalbox/store";
import type { GatewayBodies, GatewayStore } from "../../src/path/stored.ts";
import { answeredIn, isRaw, nameOf, readConversation, sideText, type Tag } from "./conversation.ts";
import { chatOf, messageId, standing } from "./platform.ts";
import type { World } from "./world.ts";

/** What the stand-ins and the database say of a world that has come to rest. */
export interface Verdict {
  /** One sentence for each promise that was broken. */
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

/** Checks every message against what the stand-ins saw. The gateway must have ended. */
export async function check(world: World): Promise<Verdict> {
  const violations: string[] = [];
  const blame = (text: string): void => void violations.push(text);
  const store = await openStore<GatewayBodies>({ path: join(world.home, "signalbox.db") });
  try {
    const conversations = checkModel(world, blame);
    const ends = await checkInbox(world, store, blame);
    await checkStore(store, blame);
    await checkMessages(world, store, blame);
    checkReplies(world, ends, blame);
    checkEffects(world, ends, conversations, blame);
    violations.push(...world.platform.odd);
    return {
      violations,
      messages: world.platform.acknowledged.length + world.platform.unaddressed.length,
      replies: world.feishu.sent.length,
      poisoned: [...ends.values()].filter((end) => end.rule === "poison").length,
      unknown: conversations.unknown.size,
    };
  } finally {
    await store.close();
  }
}

type Blame = (text: string) => void;

interface End {
  readonly state: string;
  readonly rule: string | undefined;
  readonly revision: number;
}

/** Acknowledged means committed, and ended in exactly one way. */
async function checkInbox(world: World, store: GatewayStore, blame: Blame): Promise<Map<string, End>> {
  const ends = new Map<string, End>();
  const rows = new Map<string, number>();
  for (const row of await store.inbox.list({ limit: 1_000_000 }))
    rows.set(row.messageId ?? "", (rows.get(row.messageId ?? "") ?? 0) + 1);
  const expected = [
    ...world.platform.acknowledged.map((tag) => ({ name: nameOf(tag), id: messageId(nameOf(tag)) })),
    ...world.platform.unaddressed.map((id) => ({ name: id, id })),
  ];
  for (const { name, id } of expected) {
    const row = await store.inbox.find({ channel: "feishu", account: "main", messageId: id });
    if (row === undefined) {
      blame(`lost: ${name} was acknowledged and is not in the inbox`);
      continue;
    }
    if (rows.get(id) !== 1) blame(`twice: ${name} is in the inbox ${rows.get(id)} times`);
    if (!ENDS.has(row.state)) blame(`open: ${name} is ${row.state} at rest`);
    ends.set(name, { state: row.state, rule: row.detail?.rule, revision: row.revision });
  }
  for (const id of world.platform.unaddressed)
    if (ends.get(id)?.state !== "ignored") blame(`unaddressed: ${id} is ${ends.get(id)?.state}`);
  return ends;
}

/** What stands at the platform is what was to be said there: no draft is left as it was. */
async function checkMessages(world: World, store: GatewayStore, blame: Blame): Promise<void> {
  const said = new Map<unknown, string>();
  for (const { payload, receipts } of await store.outbox.list({ states: ["sent"], limit: 1_000_000 }))
    for (const { part, receipt } of receipts) {
      const content = payload.parts[part];
      if (isRaw(receipt) && content !== undefined && "text" in content)
        said.set(receipt["messageId"], content.text);
    }
  for (const { messageId, content } of standing(world.feishu)) {
    const text = said.get(messageId);
    if (text === undefined) blame(`draft: nobody's: ${content}`);
    else if (!content.includes(JSON.stringify(text).slice(1, -1)))
      blame(`draft: ${content} stands where ${text} was to be said`);
  }
}

async function checkStore(store: GatewayStore, blame: Blame): Promise<void> {
  const { outbox, runsActive } = await store.maintenance.stats();
  if (runsActive > 0) blame(`${runsActive} runs are open at rest`);
  for (const [state, count] of Object.entries(outbox))
    if (count > 0) blame(`${count} replies are ${state} at rest`);
  const { ok, problems } = await store.maintenance.integrity();
  if (!ok) blame(`the database is damaged: ${problems.join("; ")}`);
}

interface Conversations {
  /** Messages one of whose calls the model was told to have an unknown outcome. */
  readonly unknown: ReadonlySet<string>;
  /** Messages one of whose calls failed, with what the model was told. */
  readonly failed: ReadonlyMap<string, string>;
}

/** Sessions are what the vendor takes, hold every message once, in order, and none of another session. */
function checkModel(world: World, blame: Blame): Conversations {
  const unknown = new Set<string>();
  const failed = new Map<string, string>();
  for (const { body, status, text } of world.anthropic.requests) {
    if (status !== 200) blame(`the vendor refused a request with ${status}: …${text.slice(-300)}`);
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

/** Every message has its reply exactly once, where it belongs. */
function checkReplies(world: World, ends: ReadonlyMap<string, End>, blame: Blame): void {
  const replies = new Map<string, ReturnType<typeof standing>>();
  const there = standing(world.feishu);
  for (const message of there) {
    for (const name of answeredIn(message.content))
      replies.set(name, [...(replies.get(name) ?? []), message]);
  }
  for (const { content, edits } of world.feishu.sent)
    if ([content, ...edits].some((text) => text.includes("__"))) blame("draft: silence was shown");
  const uuids = world.feishu.sent.flatMap(({ uuid }) => uuid ?? []);
  if (new Set(uuids).size !== world.feishu.sent.length)
    blame("duplicate: two messages at the platform share a key");
  for (const tag of world.platform.acknowledged) {
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
    if (!["replied", "silent"].includes(end?.state ?? ""))
      blame(`state: ${name} is ${end?.state} (${end?.rule})`);
    const others = echoOrSilence(world, tag);
    if (found.length > 1) blame(`duplicate: ${name} was answered ${found.length} times`);
    if (found.length === 0 && !others)
      blame(`lost: ${name} (${tag.kind}, ${end?.state}) has no reply at the platform`);
    if (found.length > 0 && end?.state !== "replied")
      blame(`state: ${name} was answered and is ${end?.state}`);
    for (const { chatId } of found)
      if (chatId !== chatOf(tag.session)) blame(`misplaced: ${name} was answered in ${chatId}`);
  }
}

/** Whether a message may have no reply of its own: silence was asked for, or the tool said it all. */
function echoOrSilence(world: World, { session, number, kind }: Tag): boolean {
  if (kind === "silent") return true;
  const text = sideText(nameOf({ session, number, kind }));
  return (
    (kind === "echo" || kind === "retract") &&
    standing(world.feishu).some(({ content }) => content.includes(text))
  );
}

/** Nothing with outside effects happened twice; what did not happen was not said to have happened. */
function checkEffects(
  world: World,
  ends: ReadonlyMap<string, End>,
  { unknown, failed }: Conversations,
  blame: Blame,
): void {
  const log = join(world.workspace, "effects.log");
  const there = standing(world.feishu);
  const lines = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
  for (const tag of world.platform.acknowledged) {
    const name = nameOf(tag);
    const said = there.filter(({ content }) => content.includes(sideText(name))).length;
    const ran = lines.filter((line) => line === name).length;
    const end = ends.get(name);
    // What was set aside after the tool had said it is still open to the model, which may say it in the answer to the
    // next message.
    const doubt = end?.rule === "poison" ? 1 : 0;
    if (said > 1 + doubt)
      blame(
        `blind: ${name} (${tag.kind}, ${end?.state} ${end?.rule ?? ""}) was said ${said} times by the message tool or after it: ${there.flatMap(({ messageId, content }) => (content.includes(sideText(name)) ? `${messageId} ${content}` : [])).join(" | ")}`,
      );
    if (ran > 1) blame(`blind: the command of ${name} ran ${ran} times`);
    const excused = unknown.has(name) || end?.rule === "poison" || INJECTED.test(failed.get(name) ?? "");
    if (failed.has(name) && !excused) blame(`failed: a tool of ${name}: ${failed.get(name)}`);
    if (excused) continue;
    if (["send", "echo", "steps"].includes(tag.kind) && said === 0)
      blame(`lost: ${name} was not said by the message tool`);
    if (["exec", "steps"].includes(tag.kind) && ran === 0) blame(`lost: the command of ${name} did not run`);
    if (["write", "steps"].includes(tag.kind) && !existsSync(join(world.workspace, "notes", `${name}.txt`)))
      blame(`lost: the file of ${name} is missing`);
  }
}
