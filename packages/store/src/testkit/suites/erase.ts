import type { InboxId } from "../../types/common.ts";
import type { InboxAccept } from "../../types/inbox.ts";
import type { Lease } from "../../types/leases.ts";
import type { Store } from "../../types/store.ts";
import type { Suite } from "./suite.ts";
import { begun, event, reply, seed, takeLease } from "./support.ts";

const CODE = "The alarm code of the office is 7730.";

const said = (text: string) => ({ role: "user", content: text });

/** A call whose arguments are JSON inside JSON. */
const noted = (text: string) => ({
  role: "assistant",
  content: [
    { type: "toolCall", name: "memory_write", argsText: JSON.stringify({ text: `"Note"\n${text}` }) },
  ],
});

async function accept(store: Store, given: InboxAccept): Promise<InboxId> {
  const answer = await store.inbox.accept(given);
  if (answer.outcome !== "accepted") throw new Error(answer.outcome);
  return answer.id;
}

/** Accepts and answers a message whose ids do not contain its text. */
async function answered(store: Store, lease: Lease, text: string, key: string): Promise<void> {
  const id = await accept(store, { ...event(key, key), payload: { text } });
  const session = seed(key);
  const begin = { session, lease, inboxIds: [id], userMessages: [said(text)] };
  const begins = await store.runs.begin(begin);
  if (begins.outcome !== "started") throw new Error(begins.outcome);
  await store.runs.finish({
    runId: begins.run.id,
    lease,
    outcome: "completed",
    inbox: [{ id, state: "replied" }],
    messages: [{ role: "assistant", content: `re: ${text}` }],
    outbox: [reply(text)],
    usage: { modelCalls: 1, inputTokens: 10, outputTokens: 5, costMicros: 7 },
  });
}

export const eraseSuite: Suite = ({ test, expect, open }) => {
  test("erases a text from a session's messages, calls, contexts, replies and title", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    await answered(store, lease, CODE, "a");
    await answered(store, lease, `b: ${CODE}`, "b");
    await store.sessions.append("a", [said(`${CODE} Remember it.`), noted(CODE)], lease);
    await store.sessions.patch("a", { title: `${CODE.slice(0, 20)}…` });
    const context = { seq: 1, text: CODE, told: [], recalled: `- ${CODE}`, forOwner: false };
    await store.contexts.put("a", [context]);

    const erased = await store.maintenance.erase({ sessions: ["a"], messages: [], texts: [`- ${CODE}`] });
    expect(erased).toBeGreaterThanOrEqual(7);
    const [call, message] = await store.sessions.transcript("a");
    expect(message?.message).toEqual(said("[forgotten] Remember it."));
    expect(call?.message).toEqual(noted("[forgotten]"));
    const left = [
      await store.sessions.transcript("a"),
      await store.sessions.get("a"),
      await store.contexts.from("a", 1),
      await store.inbox.list({ sessionKey: "a", limit: 10 }),
    ];
    expect(JSON.stringify(left)).not.toMatch(/7730|alarm code/);
    expect(JSON.stringify(await store.sessions.transcript("b"))).toContain("7730");
  });

  test("erases texts from the traces of the sessions, also if they are not written yet, and from no others", async () => {
    const { store } = await open();
    const [own, other] = [await accept(store, event("1", "a")), await accept(store, event("2", "b"))];
    const entry = { stage: "a long stage of the run", at: 1, data: { summary: CODE, data: { args: CODE } } };
    for (const id of [own, other]) void store.traces.append(id, [entry]);
    const texts = [CODE, entry.stage];
    await store.maintenance.erase({ sessions: ["a"], messages: [], texts });
    const data = { summary: "[forgotten]", data: { args: "[forgotten]" } };
    expect(await store.traces.read(own)).toEqual([{ ...entry, data }]);
    expect(await store.traces.read(other)).toEqual([entry]);
  });

  const ID = "7730112233";
  const WORDS = ["toolResult", "image/jpeg", ID, "memory_write"];
  const erase = (store: Store) => store.maintenance.erase({ sessions: ["a"], messages: [], texts: WORDS });

  test("words that also occur as ids, types or names are erased from the content of messages, and nowhere else", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    await store.sessions.ensure(seed("a"));
    const args = (text: string) => ({ customerId: ID, mimeType: "image/jpeg", notes: [{ body: text }] });
    const conversation = (text: string) => [
      { role: "user", senderId: ID, content: text, context: `> ${text}` },
      {
        role: "assistant",
        stopReason: "tool_use",
        content: [
          {
            type: "thinking",
            text,
            native: text === "[forgotten]" ? undefined : { data: { signature: "s" } },
          },
          {
            type: "toolCall",
            id: ID,
            name: "memory_write",
            args: args(text),
            argsText: JSON.stringify(args(text)),
          },
        ],
      },
      {
        role: "toolResult",
        toolCallId: ID,
        toolName: "memory_write",
        content: [
          { type: "text", text: `Saved: ${text}` },
          { type: "image", mimeType: "image/jpeg", source: { kind: "url", url: ID } },
        ],
        details: { rows: [{ id: ID, title: text }] },
      },
      { role: "compactionSummary", summary: text },
    ];
    for (const word of WORDS) await store.sessions.append("a", conversation(word), lease);
    await erase(store);
    const messages = (await store.sessions.transcript("a", { limit: 100 })).map((row) => row.message);
    expect(messages.toReversed()).toEqual(WORDS.flatMap(() => conversation("[forgotten]")));
  });

  test("words that also occur as ids, types or names are erased from the text of an event, whose redelivery is still recognized", async () => {
    const { store } = await open();
    const place = { channel: "image/jpeg", account: ID, eventId: ID, messageId: ID, senderId: ID };
    const payload = (text: string) => ({
      event: {
        type: "message",
        address: ID,
        sender: { id: ID },
        text,
        media: [{ mimeType: "image/jpeg", ref: ID }],
        references: [{ kind: "reply", messageId: ID, text }],
        turn: { instructions: text, history: [{ role: "user", text }] },
      },
    });
    const sent = { ...event("1", "a"), ...place, payload: payload(ID) };
    const id = await accept(store, sent);
    await erase(store);
    expect(await store.inbox.get(id)).toMatchObject({ ...place, payload: payload("[forgotten]") });
    expect(await store.inbox.accept(sent)).toMatchObject({ outcome: "duplicate", id });
  });

  test("words that also occur as ids, types or names are erased from the parts of a reply, which goes to the same address", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    const { run, inboxIds } = await begun(store, lease, ["1"], "a");
    const payload = (text: string) => ({
      replyTo: ID,
      parts: [
        { type: "buttons", text, buttons: [{ id: ID, label: text, value: { approval: ID } }] },
        { type: "media", mimeType: "image/jpeg", ref: { path: ID } },
        { type: "poll", question: text, options: [text, "no"] },
      ],
    });
    await store.runs.finish({
      runId: run.id,
      lease,
      outcome: "completed",
      inbox: inboxIds.map((id) => ({ id, state: "replied" })),
      messages: [],
      outbox: [{ channel: "feishu", account: "main", address: ID, payload: payload(ID) }],
      usage: { modelCalls: 1, inputTokens: 1, outputTokens: 1, costMicros: 1 },
    });
    await erase(store);
    const [row] = await store.outbox.list({ states: ["pending"] });
    expect(row).toMatchObject({ address: ID, payload: payload("[forgotten]") });
  });

  test("words that also occur as ids, types or names are erased from group messages and from contexts that look like JSON", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    await store.sessions.ensure(seed("a"));
    await store.sessions.append("a", [said("hello")], lease);
    const context = (text: string) => ({
      seq: 1,
      text: `{"x":"${text}"}`,
      recalled: `["${text}"]`,
      told: [
        {
          id: ID,
          senderId: ID,
          conversation: ID,
          at: 1,
          body: { text, media: [{ mimeType: "image/jpeg" }], references: [{ messageId: ID, text }] },
        },
      ],
      forOwner: false,
    });
    await store.contexts.put("a", [context(ID)]);
    await erase(store);
    expect(await store.contexts.from("a", 1)).toEqual([context("[forgotten]")]);
  });

  test("erases texts in more rows than one transaction changes", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    await store.sessions.ensure(seed("a"));
    for (let sent = 0; sent < 12; sent += 1)
      await store.sessions.append(
        "a",
        Array.from({ length: 100 }, () => said(CODE)),
        lease,
      );
    const before = (await store.maintenance.stats()).commits;
    expect(await store.maintenance.erase({ sessions: ["a"], messages: [], texts: [CODE] })).toBe(1_200);
    expect((await store.maintenance.stats()).commits - before).toBeGreaterThanOrEqual(24);
  });

  test("erases texts while a run goes on, which can be finished", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    const { run, inboxIds } = await begun(store, lease, [CODE], "a");
    await store.maintenance.erase({ sessions: ["a"], messages: [], texts: [CODE] });
    await store.runs.finish({
      runId: run.id,
      lease,
      outcome: "completed",
      inbox: inboxIds.map((id) => ({ id, state: "replied" })),
      messages: [{ role: "assistant", content: "Forgotten." }],
      outbox: [],
      usage: { modelCalls: 1, inputTokens: 1, outputTokens: 1, costMicros: 1 },
    });
    const messages = (await store.sessions.transcript("a")).map((row) => row.message);
    expect(messages).toEqual([{ role: "assistant", content: "Forgotten." }, said("[forgotten]")]);
  });

  test("erases a short text only as a whole message", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    await store.sessions.ensure(seed("a"));
    await store.sessions.append("a", [said("yes"), said("yesterday, yes"), said("密码是四四一一。")], lease);
    await store.maintenance.erase({
      sessions: ["a"],
      messages: [{ sessionKey: "a", seq: 1 }],
      texts: ["yes", "密码是四四一一。"],
    });
    const messages = (await store.sessions.transcript("a")).map((row) => row.message).reverse();
    expect(messages).toEqual([said("[forgotten]"), said("yesterday, yes"), said("[forgotten]")]);
  });
};
