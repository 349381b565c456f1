import { type Capabilities, type Channel, systemClock } from "@signalbox/channel";
import { expect, it } from "vitest";
import { KEYED, plainAccount } from "../test/plain.ts";
import { type ActingRun, createMessageActions, type MessageAction, outboxKey } from "./index.ts";
import { createMemoryOutbox } from "./testkit/index.ts";

const lease = { name: "gateway", epoch: 1 };

function harness(methods: Partial<Channel> = {}, capabilities: Capabilities = KEYED, isRunning = true) {
  const outbox = createMemoryOutbox(systemClock);
  const account = plainAccount(methods, { capabilities });
  const said: unknown[] = [];
  const shown: string[] = [];
  let prepared = 0;
  const run: ActingRun = {
    event: { channel: "plain", account: "main", address: "room" },
    sessionKey: "s",
    runId: "r",
    onSent: (text, media) => said.push([text, ...media]),
  };
  const act = createMessageActions<ActingRun, Awaited<ReturnType<typeof outbox.enqueue>>[number]>({
    outbox,
    lease,
    now: systemClock.now,
    account: () => (isRunning ? account : undefined),
    definition: () => account.definition,
    deliver: () => {},
    async prepare(media) {
      prepared += 1;
      return media.includes("gone")
        ? { parts: [], lines: ["gone: there is no such file."] }
        : { parts: [], lines: [] };
    },
    isOfConversation: async (_run, messageId) => messageId === "ours",
    show: (text) => shown.push(text),
    redact: (text) => text.replace("token", "***"),
  });
  const call = { callId: "c1", signal: new AbortController().signal };
  return {
    outbox,
    said,
    shown,
    prepared: () => prepared,
    act: (action: MessageAction, callId = call.callId) => act(action, run, { ...call, callId }),
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
  expect(await act(send("Hello."))).toEqual({ ok: true, text: "The message is on its way." });
  expect(await act(send("Hello."))).toMatchObject({ ok: true });
  const sent = await rows();
  expect(sent).toMatchObject([{ key: outboxKey("r", "c1"), address: "room" }]);
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
  const { act, rows, said } = harness({ openDirect: async (person) => `direct to ${person}` });
  expect(await act(send("Yes.", { replyTo: "theirs" }))).toMatchObject({ ok: false });
  expect(await act(send("Yes.", { replyTo: "ours" }))).toMatchObject({ ok: true });
  expect(await act(send("Psst.", { target: "ben" }), "c2")).toMatchObject({ ok: true });
  expect((await rows()).map(({ address }) => address).toSorted()).toEqual(["direct to ben", "room"]);
  expect(said).toEqual([["Yes."]]);
  expect(await act({ ...send("No."), channel: "other" })).toMatchObject({ ok: false });
});

it("reacts, edits and deletes at once, or says why it cannot", async () => {
  const done: unknown[] = [];
  const methods: Partial<Channel> = {
    react: async (_to, messageId, { emoji }) => void done.push([messageId, emoji]),
    edit: async () => Promise.reject(new Error("wrong token")),
  };
  const { act } = harness(methods);
  expect(await act({ action: "react", messageId: "m", emoji: "👍" })).toEqual({ ok: true, text: "Reacted." });
  expect(done).toEqual([["m", "👍"]]);
  expect(await act({ action: "edit", messageId: "m", text: "x" })).toEqual({
    ok: false,
    message: "wrong ***",
  });
  expect(await act({ action: "delete", messageId: "m" })).toMatchObject({ ok: false });
  expect(await harness(methods, KEYED, false).act({ action: "delete", messageId: "m" })).toMatchObject({
    message: expect.stringContaining("does not run"),
  });
});

it("shows a text to a client that reads the session, and says nothing to one that waits for one answer", async () => {
  const reading = harness({}, { ...KEYED, readsSession: true });
  expect(await reading.act(send("Look."))).toEqual({ ok: true, text: "The message was shown." });
  expect([reading.shown, await reading.rows()]).toEqual([["Look."], []]);
  const waiting = harness({}, { ...KEYED, awaitsSingleAnswer: true });
  expect(await waiting.act(send("Wait."))).toMatchObject({ ok: false });
});
