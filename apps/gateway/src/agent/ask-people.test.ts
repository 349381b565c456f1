import type { Question } from "@signalbox/delivery";
import { phrasesFor, phrasesIn } from "@signalbox/phrases";
import { parseId, type RunId } from "@signalbox/store";
import type { Approval, UserQuestions } from "@signalbox/tools";
import { describe, expect, it } from "vitest";
import { createUserPrompts, type PromptingRun } from "./ask-people.ts";

const RUN_ID = parseId<RunId>("0".repeat(26)) ?? expect.unreachable();

class Shutdown extends Error {}

const run: PromptingRun = {
  runId: RUN_ID,
  sessionKey: "s",
  agent: { id: "coder" },
  speaker: "feishu:ou_1",
  role: "member",
  event: {
    type: "message",
    eventId: "e1",
    channel: "feishu",
    account: "main",
    address: "oc_1",
    messageId: "om_1",
    sender: { id: "ou_1", isBot: false, isSelf: false },
    conversation: { kind: "direct", id: "oc_1" },
    addressed: "dm",
    media: [],
    mentions: [],
    text: "make me a drink",
    timestamp: 0,
  },
};
const question = { question: "Tea or coffee?", options: ["Tea", "Coffee"], ttlMs: 60_000 };

/** Somebody who is asked once, and answers with `words`, or not at all. */
function open(words: string | undefined) {
  const [calls, put, shown, closed]: [string[], string[], string[], string[]] = [[], [], [], []];
  const toOwners: Question[] = [];
  const texts: Question[] = [];
  const userQuestions: Pick<UserQuestions, "open" | "wait" | "close"> = {
    async open({ call, ttlMs, ...asked }) {
      calls.push(call);
      return { ...asked, id: "ABCD2345", expiresAt: ttlMs };
    },
    wait: async () =>
      words === undefined ? undefined : { kind: "answered", text: words, messageId: "om_2" },
    close: async (_, kind) => void closed.push(kind),
  };
  const asking = createUserPrompts({
    questions: {
      async put(asked) {
        texts.push(asked);
        put.push(asked.choices.map(({ label }) => label).join(" or "));
      },
      close: async (_, how, owners) => void closed.push([how, ...(owners ?? [])].join(" ")),
    },
    startNewMessage: async () => {},
    askOwners: async (create) => void toOwners.push(create(phrasesIn("zh"))),
    owners: () => ["telegram:1"],
    userQuestions: { ...userQuestions, ...NEVER },
    show: (_, id, text) => shown.push(`${id}: ${text.split("\n")[0]}`),
    phrasesOf: ({ stored }) => phrasesFor(undefined, stored.event.text),
    isShutdown: (reason) => reason instanceof Shutdown,
    logger: { error: () => expect.unreachable() },
  });
  return { asking, calls, put, shown, closed, toOwners, texts };
}

/** What is asked here is none of these. */
const NEVER: Omit<UserQuestions, "open" | "wait" | "close"> = {
  load: () => expect.unreachable(),
  answer: () => expect.unreachable(),
  getOpen: () => expect.unreachable(),
  getAnsweredBy: () => expect.unreachable(),
  forget: () => expect.unreachable(),
};

it("puts a question under the call that asks it, shows it, and says how it ended", async () => {
  const { asking, calls, put, shown, closed } = open("Coffee");
  const { signal } = new AbortController();
  const end = await asking.forAnswer(question, run, { callId: "c1", signal });
  expect(end).toMatchObject({ kind: "answered", text: "Coffee" });
  expect([calls, put, closed.length]).toEqual([[`${RUN_ID} c1`], ["Tea or Coffee"], 1]);
  expect(shown).toEqual([expect.stringMatching(/ABCD2345: .*Tea or coffee\?/)]);
});

it("ends a question that its run does not wait for any more", async () => {
  const { asking, closed } = open(undefined);
  const signal = AbortSignal.abort(new Error("stopped"));
  expect(await asking.forAnswer(question, run, { callId: "c1", signal })).toEqual({ kind: "stopped" });
  expect(closed[0]).toBe("stopped");
});

it("leaves one open that only this process does not wait for any more", async () => {
  const { asking, closed } = open(undefined);
  const signal = AbortSignal.abort(new Shutdown());
  await expect(asking.forAnswer(question, run, { callId: "c1", signal })).rejects.toThrow(Shutdown);
  expect(closed).toEqual([]);
});

describe("an approval request", () => {
  const approval: Approval = {
    id: "K7Q2M9XA",
    state: "pending",
    agentId: "main",
    sessionKey: "s",
    hash: "0123",
    taint: [],
    tool: "exec",
    reason: "It runs a command.",
    subject: { action: "ls", forOwners: true },
    createdAt: 0,
    expiresAt: 60_000,
  };

  it("goes to every owner in their language if a member asks in a direct chat, who cannot decide", async () => {
    const { asking, put, shown, toOwners, closed } = open(undefined);
    await asking.forApproval(approval, run);
    expect(shown).toEqual([
      "ask-K7Q2M9XA: Approval K7Q2M9XA: I want to use exec and am waiting for an owner to approve it.",
    ]);
    expect(put).toEqual([""]);
    expect(toOwners).toMatchObject([{ id: "K7Q2M9XA", choices: [{ label: "允许" }, { label: "拒绝" }] }]);
    expect(toOwners[0]?.text).toContain("ls");
    await asking.ended({ ...approval, state: "allowed" });
    expect(closed).toEqual(["Allowed. telegram:1"]);
  });

  it("stays in a group with its buttons, where an owner may read it, and also goes to the owners", async () => {
    const { asking, put, toOwners } = open(undefined);
    const event = { ...run.event, conversation: { kind: "group" as const, id: "oc_1" } };
    await asking.forApproval(approval, { ...run, event });
    expect(put).toEqual(["Allow or Deny"]);
    expect(toOwners).toHaveLength(1);
  });

  it("has a button for an allow rule if one can express the call, and no commands beside the buttons", async () => {
    const { asking, put, shown, texts } = open(undefined);
    const subject = { action: "ls", rules: [["ls"]] };
    await asking.forApproval({ ...approval, subject }, { ...run, role: "owner" });
    expect(put).toEqual(["Allow or Always allow or Deny"]);
    expect(texts[0]?.text).not.toContain("/approve");
    expect(texts[0]?.withoutButtons).toContain("2. /approve K7Q2M9XA allow-always");
    // Clients of the page have a card.
    expect(shown).toEqual([]);
  });

  it.each(["owner", "system"] as const)(
    "of a run for the role %s only goes to the conversation",
    async (role) => {
      const { asking, put, toOwners } = open(undefined);
      await asking.forApproval(approval, { ...run, role });
      expect(put).toEqual(["Allow or Deny"]);
      expect(toOwners).toEqual([]);
    },
  );
});
