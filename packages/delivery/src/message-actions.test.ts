import {
  type Capabilities,
  type Channel,
  ChannelError,
  type MessageAction,
  systemClock,
} from "@signalbox/channel";
import { expect, it } from "vitest";
import { KEYED, plainAccount } from "../test/plain.ts";
import { type ActingRun, createMessageActions, outboxRow, questionKey } from "./index.ts";
import { createMemoryOutbox } from "./testkit/index.ts";

const lease = { name: "gateway", epoch: 1 };

const accounts = [
  { channel: "plain", account: "main" },
  { channel: "other", account: "only" },
  { channel: "twice", account: "a" },
  { channel: "twice", account: "b" },
];

/** An address is what comes behind the channel's name. */
function codecOf(channel: string) {
  return {
    encode: (address: unknown) => `${channel}:${String(address)}`,
    decode(text: string) {
      if (!text.startsWith(`${channel}:`)) throw new Error("not an address");
      return text.slice(channel.length + 1);
    },
  };
}

function harness(methods: Partial<Channel> = {}, capabilities: Capabilities = KEYED, isRunning = true) {
  const outbox = createMemoryOutbox(systemClock);
  const account = plainAccount(methods, { capabilities });
  const said: unknown[] = [];
  const changed: unknown[] = [];
  const definitionOf = (channel: string) => ({ ...account.definition, codec: codecOf(channel) });
  const shown: string[] = [];
  let prepared = 0;
  const run: ActingRun = {
    event: {
      channel: "plain",
      account: "main",
      address: "plain:room",
      conversation: { kind: "group" },
      sender: { id: "anna" },
    },
    sessionKey: "s",
    runId: "r",
    onSent: (text, media) => said.push([text, ...media]),
  };
  const act = createMessageActions<ActingRun, Awaited<ReturnType<typeof outbox.enqueue>>[number]>({
    outbox,
    lease,
    now: systemClock.now,
    account: (channel, name) =>
      isRunning ? { ...account, channel, account: name, definition: definitionOf(channel) } : undefined,
    accounts: () => accounts,
    definition: (channel, name) =>
      accounts.some((each) => each.channel === channel && each.account === name)
        ? definitionOf(channel)
        : undefined,
    deliver: () => {},
    async prepare(media) {
      prepared += 1;
      return media.includes("gone")
        ? { parts: [], lines: ["gone: there is no such file."] }
        : { parts: [], lines: [] };
    },
    isOfConversation: async (messageId, to) => messageId === `of ${to.address}`,
    toldThere: ({ address }, { id, text }, { sessionKey }) => ({
      conversation: "elsewhere",
      id,
      senderId: sessionKey,
      body: { text: `${address} ${text}` },
      at: 0,
    }),
    changeThere: async ({ address }, { id, text }) => void changed.push([address, id, text]),
    show: (text) => shown.push(text),
    redact: (text) => text.replace("token", "***"),
  });
  const call = { callId: "c1", signal: new AbortController().signal };
  return {
    outbox,
    said,
    told: () => outbox.toldIn("elsewhere").map(({ body }) => body["text"]),
    changed,
    shown,
    prepared: () => prepared,
    run,
    act: (action: MessageAction, callId = call.callId, acting = run) =>
      act(action, acting, { ...call, callId }),
    rows: () => outbox.list({ states: ["pending"] }),
  };
}

const send = (
  text: string,
  more: Partial<Extract<MessageAction, { action: "send" }>> = {},
): MessageAction => ({
  action: "send",
  text,
  media: [],
  ...more,
});

it("sends a text once, however often the same call is made", async () => {
  const { act, rows, said } = harness();
  const first = await act(send("Hello."));
  expect(await act(send("Hello."))).toEqual(first);
  const sent = await rows();
  expect(sent).toMatchObject([{ key: expect.stringMatching(/^sent-.{15}$/), address: "plain:room" }]);
  expect(first).toEqual({ ok: true, text: `The message is on its way. Its id is ${sent[0]?.key}.` });
  expect(said).toEqual([["Hello."], ["Hello."]]);
});

it("looks for what was sent before it looks for the files that went with it", async () => {
  const { act, prepared } = harness({}, { ...KEYED, sendMedia: { file: { maxBytes: 1_000 } } });
  await act(send("Here.", { media: ["a.txt"] }));
  await act(send("Here.", { media: ["a.txt"] }));
  expect(prepared()).toBe(1);
  expect(await act(send("Here.", { media: ["gone"] }), "c2")).toMatchObject({
    message: "Nothing was sent. gone: there is no such file.",
  });
});

it("answers no message of another conversation, and writes to somebody else where the channel can", async () => {
  const { act, rows, said, told } = harness({ openDirect: async (person) => `direct to ${person}` });
  expect(await act(send("Yes.", { replyTo: "theirs" }))).toMatchObject({ ok: false });
  expect(await act(send("Yes.", { replyTo: "of plain:room" }))).toMatchObject({ ok: true });
  const toBen = send("Psst.", { target: "ben" });
  expect(await act(toBen, "c2")).toMatchObject({ ok: true });
  expect(await act(toBen, "c2")).toMatchObject({ ok: true });
  expect((await rows()).map(({ address }) => address).toSorted()).toEqual([
    "plain:direct to ben",
    "plain:room",
  ]);
  expect(said).toEqual([["Yes."]]);
  expect(told()).toEqual(["plain:direct to ben Psst."]);
});

it("replies to a message of another conversation in that conversation alone", async () => {
  const { act, rows } = harness();
  const reply = (replyTo: string) => send("Yes.", { target: "plain:hall", replyTo });
  expect(await act(reply("of plain:room"))).toEqual({
    ok: false,
    message: "There is no message of plain:room in that conversation.",
  });
  expect(await act(reply("of plain:hall"))).toMatchObject({ ok: true });
  expect(await rows()).toMatchObject([{ address: "plain:hall", payload: { replyTo: "of plain:hall" } }]);
});

it("writes to another conversation by its address, of another channel and account too", async () => {
  const { act, rows, told } = harness();
  for (const [index, destination] of [
    { target: "plain:hall" },
    { target: "other:hall" },
    { target: "twice:hall", channel: "twice/b" },
  ].entries())
    expect(await act(send("Hello.", destination), `c${index}`)).toMatchObject({ ok: true });
  expect((await rows()).map((row) => `${row.account} ${row.address}`).toSorted()).toEqual([
    "b twice:hall",
    "main plain:hall",
    "only other:hall",
  ]);
  expect(told()).toHaveLength(3);
});

it.each([
  ["by which of several accounts", { target: "twice:hall" }, "twice/a, twice/b"],
  ["that there is no such account", { target: "ben", channel: "twice/c" }, "no account c of twice"],
  ["that there is no such channel", { target: "ben", channel: "none" }, "no channel none"],
  ["that whom it is to is missing", { channel: "other" }, "`target` is an address"],
  ["that people cannot be written to by their id", { target: "ben" }, "`target` is an address"],
])("says %s", async (_what, destination, words) => {
  const { act, rows } = harness();
  expect(await act(send("Hello.", destination))).toMatchObject({
    ok: false,
    message: expect.stringContaining(words),
  });
  expect(await rows()).toEqual([]);
});

it("takes its own conversation for what it is, however it is named", async () => {
  const { act, said, told } = harness();
  for (const [index, destination] of [
    { target: "plain:room" },
    { channel: "plain" },
    { channel: "plain/main", target: "plain:room" },
  ].entries())
    await act(send("Here.", destination), `c${index}`);
  expect([said.length, told()]).toEqual([3, []]);
});

it("sends a poll as the platform's own, or as numbered text, once", async () => {
  const poll: MessageAction = { action: "poll", question: "Where to?", options: ["Rome", "Oslo"] };
  const polls = { options: 10, questionLength: 100, optionLength: 50 };
  const withPolls = harness({}, { ...KEYED, polls });
  await withPolls.act(poll);
  await withPolls.act(poll);
  expect((await withPolls.rows()).map(({ payload }) => payload.parts)).toEqual([
    [{ type: "poll", question: "Where to?", options: ["Rome", "Oslo"], multiple: false }],
  ]);
  const without = harness();
  await without.act(poll);
  expect(JSON.stringify(await without.rows())).toContain("1. Rome");
});

it("ends a poll that it has sent, and tells how people have voted", async () => {
  const polls = { options: 10, questionLength: 100, optionLength: 50 };
  const closed: unknown[] = [];
  const closePoll: Channel["closePoll"] = async (to, messageId) => {
    closed.push([to, messageId]);
    return {
      options: [
        { text: "Rome", votes: 3 },
        { text: "Oslo", votes: 0 },
      ],
    };
  };
  const { act, outbox, rows } = harness({ closePoll }, { ...KEYED, polls });
  await act({ action: "poll", question: "Where to?", options: ["Rome", "Oslo"] });
  const [{ id, key } = { id: "", key: "" }] = await rows();
  const close: MessageAction = { action: "close_poll", messageId: key };
  expect(await act(close, "c2")).toMatchObject({ message: expect.stringContaining("not out yet") });
  await outbox.claimDue({ lease, limit: 1 });
  await outbox.markSent(id, lease, [{ part: 0, receipt: { messageId: "m1" } }]);
  expect(await act(close, "c2")).toEqual({ ok: true, text: "Closed. Rome: 3, Oslo: 0" });
  expect(closed).toEqual([["room", "m1"]]);
  expect(await harness().act({ action: "close_poll", messageId: "of plain:room" })).toMatchObject({
    message: expect.stringContaining("no polls of its own"),
  });
});

it("reacts, edits and deletes at once, or says why it cannot", async () => {
  const done: unknown[] = [];
  const methods: Partial<Channel> = {
    react: async (to, messageId, { emoji }) => void done.push([to, messageId, emoji]),
    edit: async () => Promise.reject(new Error("wrong token")),
  };
  const { act } = harness(methods);
  const react = (messageId: string, target?: string): MessageAction => ({
    action: "react",
    messageId,
    emoji: "👍",
    target,
  });
  expect(await act(react("of plain:room"))).toEqual({ ok: true, text: "Reacted." });
  expect(await act(react("of plain:hall", "plain:hall"))).toMatchObject({ ok: true });
  expect(done).toEqual([
    ["room", "of plain:room", "👍"],
    ["hall", "of plain:hall", "👍"],
  ]);
  expect(await act({ action: "edit", messageId: "of plain:room", text: "x" })).toEqual({
    ok: false,
    message: "wrong ***",
  });
  expect(await act({ action: "delete", messageId: "of plain:room" })).toMatchObject({ ok: false });
  const stopped = harness(methods, KEYED, false);
  expect(await stopped.act({ action: "delete", messageId: "of plain:room" })).toMatchObject({
    message: expect.stringContaining("is not running"),
  });
});

it("changes no message of another conversation than the one that is named", async () => {
  const done: unknown[] = [];
  const { act } = harness({ remove: async (_to, messageId) => void done.push(messageId) });
  for (const messageId of ["of plain:hall", "sent-of-nobody", "anything"])
    expect(await act({ action: "delete", messageId })).toMatchObject({
      ok: false,
      message: `There is no message ${messageId} in that conversation.`,
    });
  expect(done).toEqual([]);
});

it("edits what it has sent by the id that it was given, once that is out, and where it was sent", async () => {
  const edited: unknown[] = [];
  const { act, outbox, changed } = harness({
    edit: async (to, messageId) => void edited.push([to, messageId]),
    remove: async () => {},
  });
  await act(send("Hello.", { target: "plain:hall" }));
  const [{ key: messageId } = { key: "" }] = await outbox.list({ states: ["pending"] });
  const edit = (target?: string) => act({ action: "edit", messageId, text: "Hello all.", target });
  expect(await edit("plain:hall")).toMatchObject({
    message: `${messageId} is not out yet. Try again later.`,
  });
  const { rows } = await outbox.claimDue({ lease, limit: 10 });
  for (const { id } of rows) await outbox.markSent(id, lease, [{ part: 0, receipt: { messageId: "m7" } }]);
  expect(await edit()).toMatchObject({ ok: false });
  expect(await edit("plain:hall")).toEqual({ ok: true, text: "Edited." });
  expect(edited).toEqual([["hall", "m7"]]);
  expect(await act({ action: "delete", messageId, target: "plain:hall" })).toMatchObject({ ok: true });
  expect(changed).toEqual([
    ["plain:hall", messageId, "Hello all."],
    ["plain:hall", messageId, undefined],
  ]);
});

it("changes and deletes all of what it has sent in several parts, and says where nothing is known to be out", async () => {
  const done: string[] = [];
  const { act, outbox } = harness(
    {
      edit: async (_to, messageId) => void done.push(`edit ${messageId}`),
      async remove(_to, messageId) {
        if (done.includes(`remove ${messageId}`)) throw new ChannelError("not_found", "it is gone");
        done.push(`remove ${messageId}`);
      },
    },
    { ...KEYED, text: { unit: "utf16", markup: "plain", max: 20 } },
  );
  await act(send("One piece of it, another piece, and the last one."));
  const { rows } = await outbox.claimDue({ lease, limit: 1 });
  const { id = "", key: messageId = "", partCount } = rows[0] ?? {};
  expect(partCount).toBe(3);
  await outbox.markPart(id, lease, { part: 0, receipt: { messageId: "m0" } });
  const edit = () => act({ action: "edit", messageId, text: "Nothing." });
  expect(await edit()).toMatchObject({ message: `${messageId} is not out yet. Try again later.` });
  const others = [1, 2].map((part) => ({ part, receipt: { messageId: `m${part}` } }));
  await outbox.markSent(id, lease, others);
  expect(await edit()).toEqual({ ok: true, text: "Edited." });
  expect(await act({ action: "delete", messageId })).toEqual({ ok: true, text: "Deleted." });
  expect(done).toEqual(["edit m0", "remove m1", "remove m2", "remove m0"]);

  await act(send("Lost."), "c2");
  const { rows: lost } = await outbox.claimDue({ lease, limit: 1 });
  const { id: lostId = "", key: lostKey = "" } = lost[0] ?? {};
  await outbox.dead(lostId, lease, "refused");
  expect(await act({ action: "delete", messageId: lostKey })).toEqual({
    ok: false,
    message: `It is not known that ${lostKey} went out.`,
  });
});

it("changes nothing that it has not sent itself: no question that an owner is to answer", async () => {
  const done: unknown[] = [];
  const { act, outbox } = harness({
    edit: async (_to, messageId) => void done.push(messageId),
    remove: async (_to, messageId) => void done.push(messageId),
  });
  const key = questionKey("01ABCDEF");
  const room = { channel: "plain", account: "main", address: "plain:room" };
  const question = { parts: [{ type: "text", text: "Approval 01ABCDEF: delete everything?" }] } as const;
  const row = outboxRow(room, question, { expiresAt: systemClock.now() + 60_000, claim: false });
  await outbox.enqueue([{ ...row, key }], { lease, sessionKey: "s" });
  const { rows } = await outbox.claimDue({ lease, limit: 10 });
  for (const { id } of rows) await outbox.markSent(id, lease, [{ part: 0, receipt: { messageId: "m7" } }]);
  for (const messageId of [`sent-${key}`, key]) {
    expect(await act({ action: "edit", messageId, text: "Read the weather?" })).toMatchObject({ ok: false });
    expect(await act({ action: "delete", messageId })).toMatchObject({ ok: false });
  }
  expect(done).toEqual([]);
});

it("changes of what is quoted what an agent said, and nothing that the gateway or others did", async () => {
  const done: unknown[] = [];
  const { act, outbox, run } = harness({
    edit: async (_to, messageId) => void done.push(["edit", messageId]),
    remove: async (_to, messageId) => void done.push(["delete", messageId]),
    react: async (_to, messageId) => void done.push(["react", messageId]),
  });
  const keys = { "m-question": questionKey("01ABCDEF"), "m-word": "word", "m-sent": "sent-abc" };
  const room = { channel: "plain", account: "main", address: "plain:room" };
  const expiry = { expiresAt: systemClock.now() + 60_000, claim: false };
  for (const [messageId, key] of Object.entries(keys)) {
    const row = outboxRow(room, { parts: [{ type: "text", text: "Delete everything?" }] }, expiry);
    const [added] = await outbox.enqueue([{ ...row, key }], { lease, sessionKey: "s" });
    await outbox.claimDue({ lease, limit: 1 });
    await outbox.markSent(added?.id ?? "", lease, [{ part: 0, receipt: { messageId } }]);
  }
  for (const messageId of [...Object.keys(keys), "m-of-others"]) {
    const quoting = { ...run, event: { ...run.event, references: [{ kind: "reply", messageId } as const] } };
    const outcomes = [
      await act({ action: "react", messageId, emoji: "👍" }, "c1", quoting),
      await act({ action: "edit", messageId, text: "Read the weather?" }, "c2", quoting),
      await act({ action: "delete", messageId }, "c3", quoting),
      await act(send("Yes.", { replyTo: messageId }), `c4${messageId}`, quoting),
    ];
    const isOwn = messageId === "m-sent";
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, isOwn, isOwn, true]);
  }
  expect(done).toEqual([
    ["react", "m-question"],
    ["react", "m-word"],
    ["react", "m-sent"],
    ["edit", "m-sent"],
    ["delete", "m-sent"],
    ["react", "m-of-others"],
  ]);
});

it("shows a text to a client that reads the session, and says nothing to one that waits for one answer", async () => {
  const reading = harness({}, { ...KEYED, readsSession: true });
  expect(await reading.act(send("Look."))).toEqual({ ok: true, text: "The message was shown." });
  expect([reading.shown, await reading.rows()]).toEqual([["Look."], []]);
  const waiting = harness({}, { ...KEYED, awaitsSingleAnswer: true });
  expect(await waiting.act(send("Wait."))).toMatchObject({ ok: false });
});
