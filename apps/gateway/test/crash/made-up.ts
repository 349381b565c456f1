import { nameOf, sideText, type Tag, textOf } from "./conversation.ts";
import type { Evidence, InboxFact, OutboxFact, Post } from "./evidence.ts";
import { chatOf, messageId } from "./platform.ts";

/** A message of a made-up world and what came of it. */
interface MadeUp {
  readonly tag: Tag;
  readonly row: InboxFact;
  readonly reply: Post | undefined;
}

function madeUp(tag: Tag): MadeUp {
  const id = messageId(nameOf(tag));
  const silent = tag.kind === "silent";
  const text = tag.kind === "echo" ? undefined : `done ${nameOf(tag)}`;
  return {
    tag,
    row: { kind: "message", eventId: `ev_${id}`, messageId: id, state: silent ? "silent" : "replied" },
    reply: silent || text === undefined ? undefined : postOf(tag, text),
  };
}

export function postOf(tag: Tag, text: string, more: Partial<Post> = {}): Post {
  return {
    channel: "feishu",
    chatId: chatOf(tag.session),
    messageId: `sent ${nameOf(tag)} ${text}`,
    content: JSON.stringify({ text }),
    earlier: [],
    key: `key ${nameOf(tag)} ${text}`,
    replyTo: messageId(nameOf(tag)),
    deleted: false,
    ...more,
  };
}

/** What the outbox keeps of posts that went well. */
export function rowsOf(posts: readonly Post[]): OutboxFact[] {
  return posts.map(({ channel, messageId: id, content }) => ({
    state: "sent",
    channel,
    texts: [JSON.parse(content).text],
    receipts: [{ part: 0, messageId: id }],
  }));
}

/** A request of the Messages API that says these. */
export function requestOf(tags: readonly Tag[]): Evidence["requests"][number] {
  const messages = tags.map((tag) => ({ role: "user", content: textOf(tag) }));
  return { status: 200, text: "", body: { messages } };
}

/** The same with the result of a call that a message asked for. */
export function resultOf(tags: readonly Tag[], tag: Tag, text: string): Evidence["requests"][number] {
  const id = `call_s${tag.session}_${tag.number}_0`;
  const result = { type: "tool_result", tool_use_id: id, is_error: true, content: text };
  const said = tags.map((one) => ({ role: "user", content: textOf(one) }));
  return { status: 200, text: "", body: { messages: [...said, { role: "user", content: [result] }] } };
}

/** A world in which every promise was kept: one conversation, with a message of each kind. */
export function cleanWorld(): Evidence & { readonly tags: readonly Tag[] } {
  const kinds = ["plain", "write", "send", "exec", "echo", "silent", "plain"] as const;
  const tags = kinds.map((kind, index): Tag => ({ session: 0, number: index + 1, kind }));
  const all = tags.map(madeUp);
  const posts = all.flatMap(({ tag, reply }) => [
    ...(tag.kind === "send" || tag.kind === "echo" ? [postOf(tag, sideText(nameOf(tag)))] : []),
    ...(reply === undefined ? [] : [reply]),
  ]);
  return {
    tags,
    acknowledged: tags,
    unaddressed: ["om_chatter_1"],
    odd: [],
    inbox: [
      ...all.map(({ row }) => row),
      { kind: "message", eventId: "ev", messageId: "om_chatter_1", state: "ignored", rule: "unaddressed" },
    ],
    outbox: rowsOf(posts),
    runsActive: 0,
    damage: [],
    requests: tags.map((_, index) => requestOf(tags.slice(0, index + 1))),
    posts,
    ran: ["s0.4"],
    notes: new Set(["s0.2"]),
  };
}
