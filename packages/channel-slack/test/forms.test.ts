import type { ButtonsPart } from "@signalbox/channel";
import { buttonClick, formSubmission, menuChoice, type SlackMessage } from "@signalbox/testkit/slack";
import { describe, expect, it } from "vitest";
import { type Bench, never, openBench } from "./harness.ts";

const to = { channel: "D_DIRECT", thread: "1767225600.000100" };

const own: ButtonsPart["buttons"][number] = {
  id: "answer",
  label: "In other words",
  opensForm: true,
  value: { id: "Q1" },
};

function question(buttons: ButtonsPart["buttons"]): ButtonsPart {
  return { type: "buttons", text: "When **shall** I?", buttons };
}

function choices(count: number): ButtonsPart["buttons"] {
  return Array.from({ length: count }, (_, index) => ({
    id: "answer",
    label: `Choice ${index}`,
    value: { id: "Q1", answer: String(index) },
  }));
}

async function ask({ channel, fakeServer }: Bench, buttons: ButtonsPart["buttons"]): Promise<SlackMessage> {
  await channel.send(to, { parts: [question(buttons)] }, { idempotencyKey: "k1", signal: never });
  const message = fakeServer.sent.at(-1);
  if (message === undefined) throw new Error("nothing was sent");
  return message;
}

/** A click on the message's only button. */
function click({ ts }: SlackMessage) {
  const button = { id: "0?answer", label: "In other words", value: '{"id":"Q1"}' };
  return buttonClick(ts, button, { threadTs: to.thread });
}

describe("a button that opens a form", () => {
  it("opens a form whose text arrives as an action of that button, in its thread", async () => {
    await using bench = await openBench();
    const message = await ask(bench, [own]);
    expect((await bench.fakeServer.postEvent(bench.url, click(message))).status).toBe(200);
    expect(bench.events).toEqual([]);
    const [view] = bench.fakeServer.views;
    if (view === undefined) throw new Error("no form was opened");
    const submission = formSubmission(view, "rather tomorrow ");
    expect((await bench.fakeServer.postEvent(bench.url, submission)).status).toBe(200);
    await bench.fakeServer.postEvent(bench.url, submission);
    expect(bench.events).toMatchObject([
      {
        type: "action",
        actionId: "answer",
        value: { id: "Q1" },
        text: "rather tomorrow",
        messageId: `D_DIRECT:${message.ts}`,
        conversation: { id: "D_DIRECT", kind: "direct", threadId: to.thread },
        sender: { id: "U_SENDER" },
      },
    ]);
  });

  it("keeps the form open if the host rejected the submission, so that it can be sent again", async () => {
    await using bench = await openBench();
    await bench.fakeServer.postEvent(bench.url, click(await ask(bench, [own])));
    const [view] = bench.fakeServer.views;
    if (view === undefined) throw new Error("no form was opened");
    bench.onEmit = async () => "rejected";
    const submission = formSubmission(view, "rather tomorrow");
    expect((await bench.fakeServer.postEvent(bench.url, submission)).ok).toBe(false);
    bench.onEmit = undefined;
    expect((await bench.fakeServer.postEvent(bench.url, submission)).status).toBe(200);
    expect(bench.events).toMatchObject([{ text: "rather tomorrow" }]);
  });

  it("is acknowledged if Slack no longer opens a form, so that it can be clicked again", async () => {
    let passed = 0;
    await using bench = await openBench(undefined, { fakeServer: { now: () => Date.now() + passed } });
    const message = await ask(bench, [own]);
    const late = click(message);
    bench.fakeServer.take(late);
    passed = 4_000;
    expect((await bench.fakeServer.postEvent(bench.url, late)).status).toBe(200);
    const again = click(message);
    await bench.fakeServer.postEvent(bench.url, again);
    await bench.fakeServer.postEvent(bench.url, again);
    expect(bench.fakeServer.views).toHaveLength(1);
    expect(bench.logged.filter((line) => line.includes("failed to open a form"))).toHaveLength(2);
  });

  it("ignores submissions of forms that it did not open", async () => {
    await using bench = await openBench();
    await bench.fakeServer.postEvent(bench.url, click(await ask(bench, [own])));
    const [{ id, view } = { id: "", view: {} }] = bench.fakeServer.views;
    for (const other of [{ callback_id: "settings" }, { private_metadata: "{}" }, { private_metadata: "no" }])
      await bench.fakeServer.postEvent(
        bench.url,
        formSubmission({ id, view: { ...view, ...other } }, "words"),
      );
    expect(bench.events).toEqual([]);
  });
});

describe("many choices", () => {
  it("become a menu next to the form button, and a choice arrives like a click", async () => {
    await using bench = await openBench();
    const { content, ts } = await ask(bench, [...choices(6), own]);
    const elements = content.blocks?.at(-1)?.["elements"];
    expect(elements).toMatchObject([
      { type: "static_select", options: expect.objectContaining({ length: 6 }) },
      { type: "button", action_id: "0?answer" },
    ]);
    const value = JSON.stringify(["answer", { id: "Q1", answer: "4" }]);
    await bench.fakeServer.postEvent(bench.url, menuChoice(ts, { id: "menu", value }));
    expect(bench.events).toMatchObject([
      { type: "action", actionId: "answer", value: { id: "Q1", answer: "4" } },
    ]);
  });

  it.each([
    ["there are only five", choices(5)],
    ["one has another style", [...choices(6), { id: "stop", label: "Stop", style: "danger" } as const]],
    ["their values do not fit into options", choices(6).map((one) => ({ ...one, value: "v".repeat(80) }))],
  ])("are buttons if %s", async (_, buttons) => {
    await using bench = await openBench();
    const { content } = await ask(bench, buttons);
    const elements = content.blocks?.at(-1)?.["elements"];
    expect(elements).toHaveLength(buttons.length);
    expect(JSON.stringify(elements)).not.toContain("static_select");
  });
});
