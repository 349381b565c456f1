import { type Capabilities, type Channel, ChannelError, type MessageAction } from "@signalbox/channel";
import { expect, it } from "vitest";
import { openOutbox } from "../test/open-outbox.ts";
import { KEYED, plainAccount } from "../test/plain.ts";
import { type ActingRun, createMessageActions, createOutboxRow, getQuestionKey } from "./index.ts";

const accounts = [
  { channel: "plain", account: "main" },
  { channel: "other", account: "only" },
  { channel: "twice", account: "a" },
  { channel: "twice", account: "b" },
];

/** An address is the text after the name of the channel. */
function createCodec(channel: string) {
  return {
    encode: (address: unknown) => `${channel}:${String(address)}`,
    decode(text: string) {
      if (!text.startsWith(`${channel}:`)) throw new Error("not an address");
      return text.slice(channel.length + 1);
    },
  };
}

async function harness(methods: Partial<Channel> = {}, capabilities: Capabilities = KEYED, isRunning = true) {
  const { store, outbox, lease, clock, markSent } = await openOutbox();
  const account = plainAccount(methods, { capabilities });
  const said: unknown[] = [];
  const changed: unknown[] = [];
  const getDefinition = (channel: string) => ({ ...account.definition, codec: createCodec(channel) });
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
  const act = createMessageActions<ActingRun>({
    outbox,
    lease,
    now: clock.now,
    account: (channel, name) =>
      isRunning ? { ...account, channel, account: name, definition: getDefinition(channel) } : undefined,
    accounts: () => accounts,
    definition: (channel, name) =>
      accounts.some((each) => each.channel === channel && each.account === name)
        ? getDefinition(channel)
        : undefined,
    deliver: () => {},
    async prepare(media) {
      prepared += 1;
      return media.includes("gone")
        ? { parts: [], lines: ["gone: there is no such file."] }
        : { parts: [], lines: [] };
    },
    findRefusal: async ({ address }) =>
      address === "plain:closed" ? "Nothing was sent: closed." : undefined,
    isOfConversation: async (messageId, to) => messageId === `of ${to.address}`,
    createHistoryEntry: ({ address }, { id, text }, { sessionKey }) => ({
      conversation: "elsewhere",
      id,
      senderId: sessionKey,
      body: { text: `${address} ${text}` },
      at: 0,
    }),
    updateHistoryEntry: async ({ address }, { id, text }) => void changed.push([address, id, text]),
    show: (text) => shown.push(text),
    redact: (text) => text.replace("token", "***"),
  });
  const call = { callId: "c1", signal: new AbortController().signal };
  return {
    outbox,
    lease,
    clock,
    markSent,
    said,
    told: async () =>
      (await store.groupHistory.list("elsewhere")).map(({ body }) => Reflect.get(Object(body), "text")),
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

it("sends a text once, however often the call is repeated", async () => {
  const { act, rows, said } = await harness();
  const first = await act(send("Hello."));
  expect(await act(send("Hello."))).toEqual(first);
  const sent = await rows();
  expect(sent).toMatchObject([{ key: expect.stringMatching(/^sent-.{15}$/), address: "plain:room" }]);
  expect(first).toEqual({ ok: true, text: `The message is on its way. Its id is ${sent[0]?.key}.` });
  expect(said).toEqual([["Hello."], ["Hello."]]);
});

it("fails before it prepares attachments if the platform would reject a message in the conversation", async () => {
  const { act, prepared, rows } = await harness({}, { ...KEYED, sendMedia: { file: { maxBytes: 1_000 } } });
  const closed = send("Here.", { media: ["a.txt"], target: "plain:closed" });
  expect(await act(closed)).toEqual({ ok: false, message: "Nothing was sent: closed." });
  expect([prepared(), await rows()]).toEqual([0, []]);
});

it("returns the outcome of a repeated call before it prepares attachments", async () => {
  const { act, prepared } = await harness({}, { ...KEYED, sendMedia: { file: { maxBytes: 1_000 } } });
  await act(send("Here.", { media: ["a.txt"] }));
  await act(send("Here.", { media: ["a.txt"] }));
  expect(prepared()).toBe(1);
  expect(await act(send("Here.", { media: ["gone"] }), "c2")).toMatchObject({
    message: "Nothing was sent. gone: there is no such file.",
  });
});

it("rejects a reply to a message of another conversation, and opens direct messages", async () => {
  const { act, rows, said, told } = await harness({ openDirect: async (person) => `direct to ${person}` });
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
  expect(await told()).toEqual(["plain:direct to ben Psst."]);
});

it("replies to a message of another conversation only in that conversation", async () => {
  const { act, rows } = await harness();
  const reply = (replyTo: string) => send("Yes.", { target: "plain:hall", replyTo });
  expect(await act(reply("of plain:room"))).toEqual({
    ok: false,
    message: "There is no message of plain:room in that conversation.",
  });
  expect(await act(reply("of plain:hall"))).toMatchObject({ ok: true });
  expect(await rows()).toMatchObject([{ address: "plain:hall", payload: { replyTo: "of plain:hall" } }]);
});

it("sends to another conversation by its address, also on another channel or account", async () => {
  const { act, rows, told } = await harness();
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
  expect(await told()).toHaveLength(3);
});

it.each([
  ["which account to use if there are several", { target: "twice:hall" }, "twice/a, twice/b"],
  ["that there is no such account", { target: "ben", channel: "twice/c" }, "no account c of twice"],
  ["that there is no such channel", { target: "ben", channel: "none" }, "no channel none"],
  ["that the target is missing", { channel: "other" }, "`target` is an address"],
  ["that the channel cannot open direct messages", { target: "ben" }, "`target` is an address"],
])("reports %s", async (_what, destination, words) => {
  const { act, rows } = await harness();
  expect(await act(send("Hello.", destination))).toMatchObject({
    ok: false,
    message: expect.stringContaining(words),
  });
  expect(await rows()).toEqual([]);
});

it("recognizes the current conversation in any notation", async () => {
  const { act, said, told } = await harness();
  for (const [index, destination] of [
    { target: "plain:room" },
    { channel: "plain" },
    { channel: "plain/main", target: "plain:room" },
  ].entries())
    await act(send("Here.", destination), `c${index}`);
  expect([said.length, await told()]).toEqual([3, []]);
});

it("sends a native poll, or numbered text, once", async () => {
  const poll: MessageAction = { action: "poll", question: "Where to?", options: ["Rome", "Oslo"] };
  const polls = { options: 10, questionLength: 100, optionLength: 50 };
  const withPolls = await harness({}, { ...KEYED, polls });
  await withPolls.act(poll);
  await withPolls.act(poll);
  expect((await withPolls.rows()).map(({ payload }) => payload.parts)).toEqual([
    [{ type: "poll", question: "Where to?", options: ["Rome", "Oslo"], multiple: false }],
  ]);
  const without = await harness();
  await without.act(poll);
  expect(JSON.stringify(await without.rows())).toContain("1. Rome");
});

it("closes a poll that it sent, and returns the votes", async () => {
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
  const { act, markSent, rows } = await harness({ closePoll }, { ...KEYED, polls });
  await act({ action: "poll", question: "Where to?", options: ["Rome", "Oslo"] });
  const [{ key } = { key: "" }] = await rows();
  const close: MessageAction = { action: "close_poll", messageId: key };
  expect(await act(close, "c2")).toMatchObject({ message: expect.stringContaining("was not sent yet") });
  await markSent("m1");
  expect(await act(close, "c2")).toEqual({ ok: true, text: "Closed. Rome: 3, Oslo: 0" });
  expect(closed).toEqual([["room", "m1"]]);
  expect(await (await harness()).act({ action: "close_poll", messageId: "of plain:room" })).toMatchObject({
    message: expect.stringContaining("no native polls"),
  });
});

it("reacts, edits and deletes immediately, or reports why it cannot", async () => {
  const done: unknown[] = [];
  const methods: Partial<Channel> = {
    react: async (to, messageId, { emoji }) => void done.push([to, messageId, emoji]),
    edit: async () => Promise.reject(new Error("wrong token")),
  };
  const { act } = await harness(methods);
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
  const stopped = await harness(methods, KEYED, false);
  expect(await stopped.act({ action: "delete", messageId: "of plain:room" })).toMatchObject({
    message: expect.stringContaining("is not running"),
  });
});

it("does not change a message of another conversation", async () => {
  const done: unknown[] = [];
  const { act } = await harness({ remove: async (_to, messageId) => void done.push(messageId) });
  for (const messageId of ["of plain:hall", "sent-of-nobody", "anything"])
    expect(await act({ action: "delete", messageId })).toMatchObject({
      ok: false,
      message: `There is no message ${messageId} in that conversation.`,
    });
  expect(done).toEqual([]);
});

it("edits a sent message by its outbox key, in the conversation it was sent to", async () => {
  const edited: unknown[] = [];
  const { act, outbox, markSent, changed } = await harness({
    edit: async (to, messageId) => void edited.push([to, messageId]),
    remove: async () => {},
  });
  await act(send("Hello.", { target: "plain:hall" }));
  const [{ key: messageId } = { key: "" }] = await outbox.list({ states: ["pending"] });
  const edit = (target?: string) => act({ action: "edit", messageId, text: "Hello all.", target });
  expect(await edit("plain:hall")).toMatchObject({
    message: `${messageId} was not sent yet. Try again later.`,
  });
  await markSent("m7");
  expect(await edit()).toMatchObject({ ok: false });
  expect(await edit("plain:hall")).toEqual({ ok: true, text: "Edited." });
  expect(edited).toEqual([["hall", "m7"]]);
  expect(await act({ action: "delete", messageId, target: "plain:hall" })).toMatchObject({ ok: true });
  expect(changed).toEqual([
    ["plain:hall", messageId, "Hello all."],
    ["plain:hall", messageId, undefined],
  ]);
});

it("edits and deletes all parts of a message, and reports an unknown outcome", async () => {
  const done: string[] = [];
  const { act, outbox, lease } = await harness(
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
  const [row] = rows;
  if (row === undefined) throw new Error("Nothing was sent.");
  const { id, key: messageId, partCount } = row;
  expect(partCount).toBe(3);
  await outbox.markPart(id, lease, { part: 0, receipt: { messageId: "m0" } });
  const edit = () => act({ action: "edit", messageId, text: "Nothing." });
  expect(await edit()).toMatchObject({ message: `${messageId} was not sent yet. Try again later.` });
  const others = [1, 2].map((part) => ({ part, receipt: { messageId: `m${part}` } }));
  await outbox.markSent(id, lease, others);
  expect(await edit()).toEqual({ ok: true, text: "Edited." });
  expect(await act({ action: "delete", messageId })).toEqual({ ok: true, text: "Deleted." });
  expect(done).toEqual(["edit m0", "remove m1", "remove m2", "remove m0"]);

  await act(send("Lost."), "c2");
  const [lost] = (await outbox.claimDue({ lease, limit: 1 })).rows;
  if (lost === undefined) throw new Error("Nothing was sent.");
  const lostKey = lost.key;
  await outbox.dead(lost.id, lease, "rejected");
  expect(await act({ action: "delete", messageId: lostKey })).toEqual({
    ok: false,
    message: `It is not known whether ${lostKey} was sent.`,
  });
});

it("does not change a question to an owner", async () => {
  const done: unknown[] = [];
  const { act, outbox, lease, clock, markSent } = await harness({
    edit: async (_to, messageId) => void done.push(messageId),
    remove: async (_to, messageId) => void done.push(messageId),
  });
  const key = getQuestionKey("01ABCDEF");
  const room = { channel: "plain", account: "main", address: "plain:room" };
  const question = { parts: [{ type: "text", text: "Approval 01ABCDEF: delete everything?" }] } as const;
  const row = createOutboxRow(room, question, { expiresAt: clock.now() + 60_000, claim: false });
  await outbox.enqueue([{ ...row, key }], { lease, sessionKey: "s" });
  await markSent("m7");
  for (const messageId of [`sent-${key}`, key]) {
    expect(await act({ action: "edit", messageId, text: "Read the weather?" })).toMatchObject({ ok: false });
    expect(await act({ action: "delete", messageId })).toMatchObject({ ok: false });
  }
  expect(done).toEqual([]);
});

it("edits and deletes quoted messages only if an agent sent them", async () => {
  const done: unknown[] = [];
  const { act, outbox, lease, clock, markSent, run } = await harness({
    edit: async (_to, messageId) => void done.push(["edit", messageId]),
    remove: async (_to, messageId) => void done.push(["delete", messageId]),
    react: async (_to, messageId) => void done.push(["react", messageId]),
  });
  const keys = { "m-question": getQuestionKey("01ABCDEF"), "m-word": "word", "m-sent": "sent-abc" };
  const room = { channel: "plain", account: "main", address: "plain:room" };
  const expiry = { expiresAt: clock.now() + 60_000, claim: false };
  for (const [messageId, key] of Object.entries(keys)) {
    const row = createOutboxRow(room, { parts: [{ type: "text", text: "Delete everything?" }] }, expiry);
    await outbox.enqueue([{ ...row, key }], { lease, sessionKey: "s" });
    await markSent(messageId);
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

it("shows a text to a client that reads the session, and rejects one that reads a single answer", async () => {
  const reading = await harness({}, { ...KEYED, readsSession: true });
  expect(await reading.act(send("Look."))).toEqual({ ok: true, text: "The message was shown." });
  expect([reading.shown, await reading.rows()]).toEqual([["Look."], []]);
  const waiting = await harness({}, { ...KEYED, awaitsSingleAnswer: true });
  expect(await waiting.act(send("Wait."))).toMatchObject({ ok: false });
});
