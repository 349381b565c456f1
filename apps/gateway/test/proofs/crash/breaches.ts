import { sideText, type Tag } from "./conversation.ts";
import type { Evidence, InboxFact, Post } from "./evidence.ts";
import { type cleanWorld, postOf, requestOf, resultOf, rowsOf } from "./made-up.ts";
import { messageId } from "./platform.ts";

type World = ReturnType<typeof cleanWorld>;

export const rowsWith = (world: World, name: string, change: Partial<InboxFact>): InboxFact[] =>
  world.inbox.map((row) => (row.messageId === messageId(name) ? { ...row, ...change } : row));
export const withPosts = (posts: readonly Post[]): Partial<Evidence> => ({ posts, outbox: rowsOf(posts) });
export const without = (world: World, text: string): Partial<Evidence> =>
  withPosts(world.posts.filter(({ content }) => !content.includes(text)));
export const tagOf = (world: World, number: number): Tag => {
  const tag = world.tags[number - 1];
  if (tag === undefined) throw new RangeError(`no message ${number}`);
  return tag;
};
export const again = (post: Post | undefined, more: Partial<Post>): Post[] =>
  post ? [{ ...post, ...more }] : [];

/** One breach each, and what must be said of it. */
export const BREACHES: readonly (readonly [
  name: string,
  breach: (world: World) => Partial<Evidence>,
  blame: readonly RegExp[],
])[] = [
  [
    "an acknowledgement before the commit: the message is not in the inbox",
    (world) => ({
      inbox: world.inbox.filter((row) => row.messageId !== messageId("s0.1")),
      ...without(world, "done s0.1"),
    }),
    [/^lost: s0\.1 was acknowledged and is not in the inbox/],
  ],
  [
    "a message taken twice",
    (world) => ({ inbox: [...world.inbox, ...world.inbox.slice(0, 1)] }),
    [/^twice: s0\.1 is in the inbox 2 times/],
  ],
  [
    "a message without an end",
    (world) => ({ inbox: rowsWith(world, "s0.1", { state: "running" }) }),
    [/^open: s0\.1 is running/],
  ],
  ["a run without an end", () => ({ runsActive: 1 }), [/^open: 1 runs/]],
  [
    "a message that failed",
    (world) => ({ inbox: rowsWith(world, "s0.1", { state: "failed-reported", rule: "internal" }) }),
    [/^state: s0\.1 is failed-reported/],
  ],
  [
    "a message to nobody that is answered all the same",
    (world) => ({
      inbox: world.inbox.map((row) =>
        row.messageId === "om_chatter_1" ? { ...row, state: "replied" } : row,
      ),
    }),
    [/^unaddressed: om_chatter_1 is replied/],
  ],
  ["a lost answer", (world) => without(world, "done s0.1"), [/^lost: s0\.1 .*has no reply/]],
  [
    "an answer that is sent twice",
    (world) =>
      withPosts([...world.posts, postOf(tagOf(world, 7), "done s0.7", { key: "2", messageId: "2" })]),
    [/^duplicate: s0\.7 was answered 2 times/],
  ],
  [
    "a send under the key of another",
    (world) => {
      const [first] = world.posts;
      return withPosts(
        world.posts.map((post) => (post === world.posts[1] ? { ...post, key: first?.key } : post)),
      );
    },
    [/^duplicate: two messages at the platform share a key/],
  ],
  [
    "a send without a key",
    (world) =>
      withPosts(world.posts.map((post, index) => (index === 0 ? { ...post, key: undefined } : post))),
    [/^duplicate: .*or one has none/],
  ],
  [
    "a reply nobody asked for",
    (world) => withPosts([...world.posts, postOf({ session: 0, number: 9, kind: "plain" }, "done s0.9")]),
    [/^unasked: s0\.9/],
  ],
  [
    "an answer in another conversation",
    (world) =>
      withPosts(
        world.posts.map((post) => (/done s0\.7/.test(post.content) ? { ...post, chatId: "oc_else" } : post)),
      ),
    [/^misplaced: s0\.7 was answered in oc_else/],
  ],
  [
    "an answer of a message that is said to have been left in silence",
    (world) => ({ inbox: rowsWith(world, "s0.1", { state: "silent" }) }),
    [/^state: s0\.1 was answered and is silent/],
  ],
  [
    "answers out of order",
    (world) => withPosts(world.posts.toReversed()),
    [/^order: in oc_session_0 the answers are to/],
  ],
  [
    "a conversation out of order",
    ({ tags }) => ({
      requests: [requestOf([...tags.slice(0, 2), ...tags.slice(3, 4), ...tags.slice(2, 3)])],
    }),
    [/^order: without 3/],
  ],
  [
    "a conversation with a message less",
    ({ tags }) => ({ requests: [requestOf(tags.toSpliced(2, 1))] }),
    [/^order: without 3/],
  ],
  [
    "a conversation with a message twice",
    ({ tags }) => ({ requests: [requestOf([...tags, ...tags.slice(-1)])] }),
    [/^order: 7 after 7/],
  ],
  [
    "a conversation with a message of another",
    ({ tags }) => ({ requests: [requestOf([...tags, { session: 2, number: 8, kind: "plain" }])] }),
    [/^order: a message of another conversation/],
  ],
  [
    "a request that the vendor refuses",
    () => ({ requests: [{ body: {}, status: 400, text: "tool_use ids were found without tool_result" }] }),
    [/^vendor: refused a request with 400/],
  ],
  [
    "a command that ran again",
    () => ({ ran: ["s0.4", "s0.4"] }),
    [/^blind: the command of s0\.4 ran 2 times/],
  ],
  ["a command that never ran", () => ({ ran: [] }), [/^lost: the command of s0\.4 did not run/]],
  [
    "a message of the tool that is said again",
    (world) =>
      withPosts(
        world.posts.flatMap((post) => [
          post,
          ...(post.content.includes(sideText("s0.3")) ? again(post, { key: "2", messageId: "2" }) : []),
        ]),
      ),
    [/^blind: s0\.3 .* was said 2 times/],
  ],
  [
    "a message of the tool that is lost",
    (world) => without(world, sideText("s0.3")),
    [/^lost: s0\.3 was not said by the message tool/],
  ],
  ["a file that is lost", () => ({ notes: new Set<string>() }), [/^lost: the file of s0\.2 is missing/]],
  [
    "a tool that failed of itself",
    (world) => ({ requests: [resultOf(world.tags, tagOf(world, 2), "EACCES")] }),
    [/^failed: a tool of s0\.2: EACCES/],
  ],
  [
    "a draft that is nobody's",
    (world) => ({ posts: [...world.posts, postOf(tagOf(world, 7), "on it")] }),
    [/^draft: nobody's/],
  ],
  [
    "a draft that never became the answer",
    (world) => {
      const text = JSON.stringify({ text: "done s0.7 and" });
      return {
        outbox: rowsOf(
          world.posts.map((post) => (/s0\.7/.test(post.content) ? { ...post, content: text } : post)),
        ),
      };
    },
    [/^draft: .* stands where done s0\.7 and was to be said/],
  ],
  [
    "the token of silence in a draft",
    (world) =>
      withPosts(world.posts.map((post, index) => (index === 0 ? { ...post, earlier: ["__SIL"] } : post))),
    [/^silence: its token was shown/],
  ],
  [
    "a reply that never left",
    (world) => ({
      outbox: [...world.outbox, { state: "pending", channel: "feishu", texts: ["x"], receipts: [] }],
    }),
    [/^open: a reply on feishu is pending/],
  ],
  [
    "a message set aside without a word",
    (world) => ({
      inbox: rowsWith(world, "s0.1", { state: "failed-reported", rule: "poison" }),
      ...without(world, "done s0.1"),
    }),
    [/^untold: s0\.1/],
  ],
  [
    "a secret in a log",
    () => ({ logs: ["it goes on with key-of-the-model"] }),
    [/^secret: one stands in the log/],
  ],
  [
    "a secret in a question to the model",
    () => ({ requests: [{ body: { system: "key-of-the-model" }, status: 200, text: "" }] }),
    [/^secret: one stands in a question/],
  ],
  ["an odd answer to an event", () => ({ odd: ["404 for an event"] }), [/^odd: 404/]],
  ["a damaged database", () => ({ damage: ["row 3 missing from index"] }), [/^damaged: /]],
];

const droppedFrom = (world: Evidence, text: string): Partial<Evidence> => ({
  posts: world.posts.filter(({ content }) => !content.includes(text)),
});
const twice = (world: Evidence, text: string): Partial<Evidence> => {
  const more = world.posts.flatMap((post) =>
    post.content.includes(text)
      ? again(post, { key: `2 ${post.key}`, messageId: `2 ${post.messageId}` })
      : [],
  );
  return { posts: [...world.posts, ...more], outbox: [...world.outbox, ...rowsOf(more)] };
};

/** The same for edits, deletions, commands and platforms that fail. */
export const RELAYED: readonly (readonly [
  name: string,
  breach: (world: Evidence) => Partial<Evidence>,
  blame: readonly RegExp[],
])[] = [
  [
    "an edit in time that is answered as the message was before",
    (world) => {
      const posts = world.posts.map((post) =>
        post.content.includes("read s9001.1#1") ? { ...post, content: '{"text":"done s9001.1"}' } : post,
      );
      return { posts, outbox: [...rowsOf(posts), ...world.outbox.filter(({ state }) => state !== "sent")] };
    },
    [/^lost: the edit of s9001\.1/],
  ],
  [
    "a late edit that is lost",
    (world) => droppedFrom(world, "read s9001.5#1"),
    [/^lost: the edit of s9001\.5/],
  ],
  [
    "an edit that came before the end and left no trace",
    (world) => ({
      ...droppedFrom(world, "read s9001.5#1"),
      inbox: world.inbox.filter(({ kind }) => kind !== "edited"),
    }),
    [/^lost: the edit of s9001\.5/],
  ],
  [
    "an edit that is answered twice",
    (world) => twice(world, "read s9001.5#1"),
    [/^duplicate: the edit of s9001\.5/],
  ],
  [
    "an edit without an end",
    (world) => ({
      inbox: world.inbox.map((row) => (row.kind === "edited" ? { ...row, state: "queued" } : row)),
    }),
    [/^open: the edit of s9001\.5 is queued/],
  ],
  [
    "a deleted message that is answered",
    (world) => {
      const posts = [...world.posts];
      posts.splice(1, 0, postOf({ session: 9001, number: 2, kind: "plain" }, "done s9001.2"));
      return { posts, outbox: [...rowsOf(posts), ...world.outbox.filter(({ state }) => state !== "sent")] };
    },
    [/^deleted: s9001\.2 was answered/],
  ],
  [
    "a command that is carried out twice",
    (world) => twice(world, "about status"),
    [/^duplicate: the command s9001\.6 was answered 2 times/],
  ],
  [
    "a command without an answer",
    (world) => droppedFrom(world, "about status"),
    [/^lost: the command s9001\.6/],
  ],
  [
    "a new conversation that still holds the old one",
    () => ({ requests: [requestOf([1, 3, 5].map((number) => ({ session: 9001, number, kind: "plain" })))] }),
    [/^order: what was said before \/new at 4/],
  ],
  [
    "a new conversation that was begun again later",
    () => ({ requests: [requestOf([{ session: 9001, number: 7, kind: "refused" }])] }),
    [/^order: without 5/],
  ],
  [
    "a conversation whose older part is lost without a summary",
    () => ({ requests: [requestOf([{ session: 9001, number: 9, kind: "plain" }])] }),
    [/^order: without 5/],
  ],
  [
    "a part of an answer that is lost",
    (world) => droppedFrom(world, "part3:s9001.3"),
    [/^lost: a part of the answer to s9001\.3/],
  ],
  [
    "a part of an answer that is sent twice",
    (world) => twice(world, "part2:s9001.3"),
    [/^duplicate: a part of the answer to s9001\.3/],
  ],
  [
    "a doubtful answer that is neither there nor shown",
    (world) => ({ outbox: world.outbox.filter(({ state }) => state !== "uncertain") }),
    [/^lost: s9003\.1 .* has no reply/],
  ],
  [
    "a doubtful answer where the platform gives a way to find out",
    (world) => ({
      outbox: world.outbox.map((row) => (row.state === "uncertain" ? { ...row, channel: "looked" } : row)),
    }),
    [/^open: a reply on looked is uncertain/],
  ],
  [
    "a refused answer of a message that is said to be replied to",
    (world) => ({
      inbox: world.inbox.map((row) =>
        row.messageId === messageId("s9001.7") ? { ...row, state: "replied", rule: undefined } : row,
      ),
    }),
    [/^state: s9001\.7 is replied, and its reply did not arrive/],
  ],
  [
    "an answer given up without a refusal",
    (world) => ({
      outbox: [...world.outbox, { state: "dead", channel: "keyed", texts: ["done s9001.9"], receipts: [] }],
    }),
    [/^open: a reply on keyed is dead/],
  ],
];
