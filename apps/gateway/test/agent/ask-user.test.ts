import { cardAction, textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { from, said as saidOnFeishu } from "../support/feishu-talk.ts";
import {
  eventually,
  exampleConfig,
  inboxRows,
  inStore,
  openWorld,
  TOKEN,
  type World,
  ZHANG,
} from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { IN_GROUP, type PlainChannel, plainChannel, plainMessage, said } from "../support/plain-channel.ts";

const QUESTION = "Tea or coffee?";
const asking = (more: object = {}) => ({
  toolCalls: [
    { id: "toolu_1", name: "ask_user", input: { question: QUESTION, options: ["Tea", "Coffee"], ...more } },
  ],
});

function configured(
  world: World,
  session: object = {},
  allow = ["ask_user", "read"],
  owners = ["plain:anna"],
): void {
  world.configure(
    exampleConfig({
      gateway: { port: 0, auth: { token: TOKEN }, logLevel: "warn", shutdownMs: 600_000 },
      agents: {
        defaults: { model: "anthropic/claude-sonnet-4-6" },
        list: [{ id: "coder", tools: { allow } }],
      },
      channels: { plain: { accounts: { main: {} } } },
      access: { owners, dm: "open", groups: { mode: "open" } },
      session,
    }),
  );
}

/** A gateway whose agent asks, and then says what it heard. */
async function open(session: object = {}, more: object = {}) {
  const world = await openWorld();
  configured(world, session);
  world.script([asking(more), { text: "As you like." }, { text: "Something else." }]);
  const plain = plainChannel();
  const started = await world.start({ channels: [plain.definition] });
  return { world, plain, started };
}

const isAsked = (plain: PlainChannel) => eventually(() => said(plain).length === 1, "the question is put");

/** What the model was told that came of its question. */
function heard(world: World): string | undefined {
  return modelRequests(world.anthropic)[1]?.messages.at(-1)?.text;
}

const attempts = async (world: World) =>
  (await inStore(world, (store) => store.runs.list())).map((run) => [run.state, run.attempts]);

interface CardElement {
  readonly tag: string;
  readonly behaviors?: readonly { readonly value: unknown }[];
}

describe("ask_user", () => {
  it.each([
    ["a number", "2", "They answered: Coffee"],
    ["an option's own words", "tea", "They answered: Tea"],
    ["other words", "neither, thank you", "They answered: neither, thank you"],
    ["its command", `/answer ID 1`, "They answered: Tea"],
  ])("takes %s for an answer, and goes on with it", async (_, words, told) => {
    const { world, plain, started } = await open();
    await plain.emit(plainMessage("m1", "make me a drink"));
    await isAsked(plain);
    expect(said(plain)[0]).toContain(`${QUESTION}\n\n1. Tea\n2. Coffee`);
    const [row] = await inStore(world, (store) => store.kv.list("user_questions"));
    await plain.emit(plainMessage("m2", words.replace("ID", String(row?.key))));
    await started.settled();
    expect(heard(world)).toBe(told);
    expect(said(plain).slice(1)).toEqual(["As you like."]);
    expect(modelRequests(world.anthropic)).toHaveLength(2);
  });

  it.each(["steer", "followup", "collect", "interrupt"])(
    "an answer is one whatever the queue mode: %s",
    async (mode) => {
      const { world, plain, started } = await open({ queue: { mode } });
      await plain.emit(plainMessage("m1", "make me a drink"));
      await isAsked(plain);
      await plain.emit(plainMessage("m2", "2"));
      await started.settled();
      expect(heard(world)).toBe("They answered: Coffee");
      expect(said(plain).slice(1)).toEqual(["As you like."]);
    },
  );

  it("accepts an answer only from the person the run works for, not from other group members", async () => {
    const { world, plain, started } = await open({ queue: { mode: "followup" } });
    const group = { ...IN_GROUP, addressed: "mention" } as const;
    const ben = { sender: { id: "ben", isBot: false, isSelf: false } } as const;
    await plain.emit(plainMessage("m1", "make me a drink", group));
    await isAsked(plain);
    await plain.emit(plainMessage("m2", "coffee", { ...group, ...ben }));
    const [row] = await inStore(world, (store) => store.kv.list("user_questions"));
    await plain.emit(plainMessage("m3", `/answer ${row?.key} 2`, { ...group, ...ben }));
    await eventually(() => said(plain).length === 2, "ben is told");
    expect(said(plain)[1]).toBe("That question is for someone else.");
    await plain.emit(plainMessage("m4", "1", group));
    await started.settled();
    expect(heard(world)).toBe("They answered: Tea");
    expect(said(plain).at(-1)).toBe("Something else.");
  });

  it("continues without an answer if another kind of message arrives, which the agent gets in full", async () => {
    const { world, plain, started } = await open({ queue: { mode: "steer" } });
    await plain.emit(plainMessage("m1", "make me a drink"));
    await isAsked(plain);
    await plain.emit(plainMessage("m2", "look what she wrote", { forwarded: { from: "Carla" } }));
    await started.settled();
    expect(JSON.stringify(modelRequests(world.anthropic)[1]?.messages)).toContain(
      "They did not answer the question",
    );
    expect(JSON.stringify(modelRequests(world.anthropic).map(({ messages }) => messages))).toContain(
      "look what she wrote",
    );
  });

  it("continues after the timeout, and a later text is a normal message", async () => {
    const world = await openWorld();
    configured(world);
    world.script([asking({ timeout_minutes: 1 }), { text: "Water, then." }, { text: "Too late for that." }]);
    const plain = plainChannel();
    let ahead = 0;
    const started = await world.start({ channels: [plain.definition], now: () => Date.now() + ahead });
    await plain.emit(plainMessage("m1", "make me a drink"));
    await isAsked(plain);
    ahead = 61_000;
    await started.settled();
    expect(heard(world)).toMatch(/^Nobody answered in time/);
    await plain.emit(plainMessage("m2", "2"));
    await started.settled();
    expect(said(plain).slice(1)).toEqual(["Water, then.", "Too late for that."]);
  });

  it("/stop ends the question, and the next text is no answer", async () => {
    const { plain, started } = await open();
    await plain.emit(plainMessage("m1", "make me a drink"));
    await isAsked(plain);
    await plain.emit(plainMessage("m2", "/stop"));
    await started.settled();
    await plain.emit(plainMessage("m3", "2"));
    await started.settled();
    expect(said(plain).at(-1)).toBe("As you like.");
  });

  it("does not count a crash while waiting against the message", async () => {
    const { world, plain, started } = await open();
    await plain.emit(plainMessage("m1", "make me a drink"));
    await isAsked(plain);
    await eventually(async () => (await attempts(world)).flat().at(-1) === 0, "that it waits is noted");
    await plain.emit(plainMessage("m2", "1"));
    await started.settled();
    expect(await attempts(world)).toEqual([["completed", 1]]);
  });

  it("is not repeated after a restart, and accepts the answer there", async () => {
    const { world, plain, started } = await open();
    await plain.emit(plainMessage("m1", "make me a drink"));
    await isAsked(plain);
    await started.stop();
    const again = plainChannel();
    const second = await world.start({ channels: [again.definition] });
    await again.emit(plainMessage("m2", "2"));
    await second.settled();
    expect(said(again)).toEqual(["As you like."]);
    expect(heard(world)).toBe("They answered: Coffee");
    expect(modelRequests(world.anthropic)).toHaveLength(2);
    expect((await inboxRows(world)).map(({ state }) => state).toSorted()).toEqual(["replied", "silent"]);
  });

  it("accepts no answer after its run has ended, even if another run is active", async () => {
    const { world, plain, started } = await open({ queue: { mode: "followup" } });
    await plain.emit(plainMessage("m1", "make me a drink"));
    await isAsked(plain);
    await started.stop();
    configured(world, { queue: { mode: "followup" } }, ["read"]);
    const answering = Promise.withResolvers<void>();
    let isAnswering = false;
    const replies = ["I may not ask any more.", "A first thing.", "And the next."];
    world.script(async (_, index) => {
      isAnswering = index === 2;
      if (isAnswering) await answering.promise;
      return { text: replies[index - 1] ?? "" };
    });
    const again = plainChannel();
    const second = await world.start({ channels: [again.definition] });
    await second.settled();
    await again.emit(plainMessage("m2", "something else"));
    await eventually(() => isAnswering, "the next run goes on");
    await again.emit(plainMessage("m3", "and another thing"));
    answering.resolve();
    await second.settled();
    expect(said(again)).toEqual(replies);
    expect(modelRequests(world.anthropic).at(-1)?.messages.at(-1)?.text).toContain("and another thing");
  });

  it("accepts no answer from a person who lost rights, and their text lowers the run's rights", async () => {
    const { world, plain, started } = await open({ queue: { mode: "steer" } });
    await plain.emit(plainMessage("m1", "make me a drink"));
    await isAsked(plain);
    configured(world, { queue: { mode: "steer" } }, ["ask_user", "read"], []);
    await started.reload();
    await plain.emit(plainMessage("m2", "2"));
    await started.settled();
    const told = JSON.stringify(modelRequests(world.anthropic)[1]?.messages);
    expect(told).toContain("They did not answer the question");
    expect(told).not.toContain("They answered");
  });

  it("is a card with a button for each answer if the channel supports buttons", async () => {
    const world = await openWorld();
    world.configure(
      exampleConfig({
        agents: {
          defaults: { model: "anthropic/claude-sonnet-4-6" },
          list: [{ id: "coder", tools: { allow: ["ask_user"] } }],
        },
        access: { dm: "open" },
      }),
    );
    world.script([asking(), { text: "As you like." }]);
    const started = await world.start();
    await started.post(textMessage("make me a drink", from(ZHANG)));
    await eventually(() => saidOnFeishu(world).length === 1, "the question is put");
    const [card] = world.feishu.sent;
    const elements: CardElement[] = JSON.parse(card?.content ?? "").body.elements;
    const values = elements.flatMap(({ tag, behaviors }) => (tag === "button" ? behaviors?.[0]?.value : []));
    // An answer in other words goes into a form.
    expect(elements.at(-1)?.tag).toBe("form");
    expect(values).toMatchObject([{ value: { answer: "1" } }, { value: { answer: "2" } }]);
    const click = cardAction(card?.messageId ?? "", values[1], { operatorId: ZHANG });
    await started.post(click);
    await started.settled();
    expect(heard(world)).toBe("They answered: Coffee");
    expect(saidOnFeishu(world).at(-1)).toBe("As you like.");
  });

  it("is not offered if no person can answer during the run", async () => {
    const { world, started } = await open();
    const response = await fetch(`${started.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "coder", messages: [{ role: "user", content: "make me a drink" }] }),
    });
    await response.text();
    expect(modelRequests(world.anthropic)[0]?.tools).toEqual(["read"]);
  });
});
