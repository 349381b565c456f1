import { type ButtonsPart, createInMemoryCache } from "@signalbox/channel";
import { cardAction, textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { type Bench, createAdjustableClock, never, openBench } from "./harness.ts";

const to = { id: "oc_direct" };

function choices(count: number): ButtonsPart["buttons"] {
  return Array.from({ length: count }, (_, index) => ({
    id: "answer",
    label: `Choice ${index}`,
    value: { id: "Q1", answer: String(index) },
  }));
}

const own: ButtonsPart["buttons"][number] = {
  id: "answer",
  label: "In other words",
  opensForm: true,
  value: { id: "Q1" },
};

/** The elements of the card that asks, without the question. */
async function ask({ channel, fakeServer }: Bench, buttons: ButtonsPart["buttons"]) {
  const part: ButtonsPart = { type: "buttons", text: "When?", buttons };
  await channel.send(to, { parts: [part] }, { idempotencyKey: "k1", signal: never });
  const message = fakeServer.sent.at(-1);
  const card = JSON.parse(message?.content ?? "{}");
  return { messageId: message?.messageId ?? "", elements: card.body.elements.slice(1) };
}

describe("choices under a question", () => {
  it("are a menu where they are many, with what is behind each beside it", async () => {
    await using bench = await openBench();
    const { messageId, elements } = await ask(bench, choices(6));
    expect(elements).toMatchObject([{ tag: "select_static", options: { length: 6 } }]);
    const [{ behaviors }] = elements;
    await bench.post(cardAction(messageId, behaviors[0].value, { option: "4" }));
    expect(bench.events).toMatchObject([
      { type: "action", actionId: "answer", value: { id: "Q1", answer: "4" }, messageId },
    ]);
  });

  it("are of the direct chat they are in, also after a week in which its kind could not be asked for", async () => {
    const clock = createAdjustableClock();
    const context = { clock, cache: createInMemoryCache({ clock }) };
    await using bench = await openBench(
      { verificationToken: "token-of-the-app", readEdits: false },
      { context },
    );
    await bench.post(textMessage("hi"));
    clock.advance(8 * 86_400_000);
    await bench.post(textMessage("hi again"));
    bench.fakeServer.fail({ kind: "code", code: 99991672, method: "GET", path: "/chats/" });
    await bench.post(cardAction("om_other", { id: "yes" }));
    expect(bench.events[2]).toMatchObject({ type: "action", conversation: { kind: "direct" } });
  });

  it.each([
    ["they are few", choices(5)],
    ["one of them stands out", [...choices(6), { id: "stop", label: "Stop", style: "danger" } as const]],
  ])("are buttons where %s", async (_, buttons) => {
    await using bench = await openBench();
    const { elements } = await ask(bench, buttons);
    expect(elements.map(({ tag }: { readonly tag: string }) => tag)).toEqual(buttons.map(() => "button"));
  });

  it("have a form beside them for an answer in other words", async () => {
    await using bench = await openBench();
    const { messageId, elements } = await ask(bench, [...choices(2), own]);
    const [, , form] = elements;
    expect(form).toMatchObject({
      tag: "form",
      elements: [{ tag: "input", required: true }, { tag: "button" }],
    });
    const [field, button] = form.elements;
    const [{ value }] = button.behaviors;
    await bench.post(cardAction(messageId, value, { form: { [field.name]: " rather tomorrow" } }));
    expect(bench.events).toMatchObject([
      { type: "action", actionId: "answer", value: { id: "Q1" }, text: "rather tomorrow", messageId },
    ]);
  });

  it("are read as they came where a card is none of this channel's", async () => {
    await using bench = await openBench();
    for (const [value, option] of [
      ["words", "x"],
      [{ options: "none" }, "0"],
      [{ options: [] }, "7"],
    ] as const)
      await bench.post(cardAction("om_other", value, { option }));
    expect(bench.events.map((event) => event.type === "action" && event.actionId)).toEqual([
      "select_static",
      "select_static",
      "select_static",
    ]);
  });
});
