import {
  editedTextOf,
  furtherParts,
  isCommand,
  type Kind,
  nameOf,
  REFUSED,
  readText,
  relayOf,
  sideText,
  type Tag,
  textOf,
} from "./conversation.ts";
import type { Evidence, InboxFact, OutboxFact, Post } from "./evidence.ts";
import { chatOf, editEvent, messageId } from "./platform.ts";
import { SUMMARY } from "./seen.ts";

/** A message of a made-up world and what came of it. */
interface MadeUp {
  readonly tag: Tag;
  readonly row: InboxFact;
  readonly reply: Post | undefined;
}

function madeUp(tag: Tag): MadeUp {
  const id = messageId(nameOf(tag));
  const silent = tag.kind === "silent";
  const text = tag.kind === "echo" || tag.kind === "retract" ? undefined : `done ${nameOf(tag)}`;
  return {
    tag,
    row: {
      kind: "message",
      eventId: `ev_${id}`,
      messageId: id,
      state: silent ? "silent" : "replied",
      revision: 0,
    },
    reply: silent || text === undefined ? undefined : postOf(tag, text),
  };
}

export function postOf(tag: Tag, text: string, more: Partial<Post> = {}): Post {
  return {
    channel: relayOf(tag.session) ?? "feishu",
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

/** The same with the results of calls that a message asked for, all of them errors. */
export function resultOf(
  tags: readonly Tag[],
  tag: Tag,
  ...texts: readonly string[]
): Evidence["requests"][number] {
  const results = texts.map((content, index) => ({
    type: "tool_result",
    tool_use_id: `call_s${tag.session}_${tag.number}_${index}`,
    is_error: true,
    content,
  }));
  const said = tags.map((one) => ({ role: "user", content: textOf(one) }));
  return { status: 200, text: "", body: { messages: [...said, { role: "user", content: results }] } };
}

/** A world in which every promise was kept: one conversation, with a message of each kind; the tool says all to one. */
export function cleanWorld(said: "echo" | "retract" = "echo"): Evidence & { readonly tags: readonly Tag[] } {
  const kinds = ["plain", "write", "send", "exec", said, "silent", "plain"] as const;
  const tags = kinds.map((kind, index): Tag => ({ session: 0, number: index + 1, kind }));
  const all = tags.map(madeUp);
  const posts = all.flatMap(({ tag, reply }) => [
    ...(tag.kind === "send" || tag.kind === said ? [postOf(tag, sideText(nameOf(tag)))] : []),
    ...(reply === undefined ? [] : [reply]),
  ]);
  return {
    tags,
    acknowledged: tags,
    unaddressed: ["om_chatter_1"],
    odd: [],
    mode: "followup",
    wasTurned: false,
    edits: [],
    deletions: [],
    logs: ["it goes on with [redacted]"],
    secrets: ["key-of-the-model"],
    inbox: [
      ...all.map(({ row }) => row),
      {
        kind: "message",
        eventId: "ev",
        messageId: "om_chatter_1",
        state: "ignored",
        rule: "unaddressed",
        revision: 0,
      },
    ],
    outbox: rowsOf(posts),
    runsActive: 0,
    comingBack: [],
    damage: [],
    requests: tags.map((_, index) => requestOf(tags.slice(0, index + 1))),
    posts,
    breaks: 0,
    ran: ["s0.4"],
    notes: new Set(["s0.2"]),
  };
}

/**
 * The same on the relays' platforms: of the first a message that was edited in time, one that was deleted, a long
 * answer, a new conversation, one that was edited late, a status, a refused answer, a summary; of the one that gives no
 * way to find out an answer that is doubtful.
 */
export function relayedWorld(): Evidence {
  const kinds: readonly Kind[] = [
    "plain",
    "plain",
    "long",
    "new",
    "plain",
    "status",
    "refused",
    "compact",
    "plain",
  ];
  const tags = kinds.map((kind, index): Tag => ({ session: 9001, number: index + 1, kind }));
  const [edited, deleted, long, , late, , seventh, , ninth] = tags;
  const doubtful: Tag = { session: 9003, number: 1, kind: "plain" };
  if (!edited || !deleted || !long || !late || !seventh || !ninth) throw new RangeError("a message less");
  const settledAt = 1_000;
  const row = (tag: Tag, more: Partial<InboxFact> = {}): InboxFact => ({
    ...madeUp(tag).row,
    ...(isCommand(tag.kind) ? { rule: `command:${tag.kind}` } : {}),
    settledAt,
    ...more,
  });
  const posts = tags.flatMap((tag) => {
    const name = nameOf(tag);
    if (tag === deleted || tag.kind === "refused") return [];
    if (isCommand(tag.kind)) return [postOf(tag, `about ${tag.kind}`)];
    return [
      postOf(tag, tag === edited ? `done ${name}\n\n${readText(name)}` : `done ${name}`),
      ...(tag === late ? [postOf(tag, readText(name), { replyTo: undefined })] : []),
      ...(tag === long
        ? furtherParts(name).map(({ text }) => postOf(tag, text, { replyTo: undefined }))
        : []),
    ];
  });
  const summary = { role: "user", content: `${SUMMARY}\n\nNotes of all that was said.` };
  const asked = (all: readonly Tag[], isSummarized = false): Evidence["requests"][number] => {
    const messages = all.map((tag) => ({
      role: "user",
      content: tag === edited ? editedTextOf(tag) : textOf(tag),
    }));
    const correction = all.includes(late)
      ? [{ role: "user", content: `(edited) ${editedTextOf(late)}` }]
      : [];
    const earlier = isSummarized ? [summary] : [];
    return { status: 200, text: "", body: { messages: [...earlier, ...messages, ...correction] } };
  };
  return {
    ...cleanWorld(),
    acknowledged: [...tags, doubtful],
    unaddressed: [],
    edits: [edited, late].map((tag) => ({ name: nameOf(tag), at: settledAt - 10 })),
    deletions: [{ name: nameOf(deleted), at: 500 }],
    inbox: [
      ...tags.map((tag) =>
        row(tag, {
          ...(tag === edited ? { revision: 1 } : {}),
          ...(tag.kind === "refused" ? { state: "failed-reported", rule: "undelivered" } : {}),
          ...(tag === deleted ? { state: "ignored", rule: "deleted" } : {}),
        }),
      ),
      row(late, { kind: "edited", eventId: editEvent(nameOf(late)) }),
      row(doubtful),
    ],
    outbox: [
      ...rowsOf(posts),
      { state: "dead", channel: "keyed", texts: [`done s9001.7\n\n${REFUSED}`], receipts: [] },
      { state: "uncertain", channel: "blunt", texts: ["done s9003.1"], receipts: [] },
    ],
    requests: [
      asked([edited]),
      asked([edited, long]),
      asked([late]),
      asked([seventh], true),
      asked([ninth], true),
    ],
    posts,
    ran: [],
    notes: new Set(),
  };
}
