import { textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { ask, from, OWNED, open, said } from "../support/feishu-talk.ts";
import {
  ends,
  eventually,
  exampleConfig,
  LI,
  openWorld,
  TOKEN,
  type World,
  ZHANG,
} from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";

/** 1,000 tokens in and 100 out of Sonnet 4.6 are 4,500 millionths of a dollar. */
const usage = { input: 1_000, output: 100 };
const daily = (more: object) => ({ budgets: [{ of: "sender", usd: 0.006, ...more }] });

async function left(world: World): Promise<Record<string, unknown>[]> {
  const listed = await world.command(["usage", "--budgets", "--json"]);
  return JSON.parse(listed.out);
}

describe("budgets", () => {
  it("allow calls until they are exhausted, and then send a notice", async () => {
    const { world, started } = await open(daily({}));
    world.script(() => ({ text: "an answer", usage }));
    for (const text of ["one", "two", "three"]) await ask(started, text);
    await ask(started, "from another", LI);
    expect(said(world)).toEqual([
      "an answer",
      "an answer",
      "Sorry, I could not answer: the budget is used up. /usage shows when it resets.",
      "an answer",
    ]);
    expect(modelRequests(world.anthropic)).toHaveLength(3);
    expect((await ends(world)).at(2)).toEqual(["failed-reported", "budget"]);
    expect(await left(world)).toMatchObject([
      { account: `sender feishu:${LI}`, spent: 4_500, reserved: 0, left: 1_500 },
      { account: `sender feishu:${ZHANG}`, spent: 9_000, reserved: 0, left: 0 },
    ]);
    await ask(started, "/usage", LI);
    expect(said(world).at(-1)).toContain("each sender, $0.006000 a day: $0.001500 left, resets at ");
    const metrics = await (
      await fetch(`${started.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })
    ).text();
    expect(metrics).toContain(
      'signalbox_budget_events_total{budget="each sender, $0.006000 a day",kind="refused"} 1',
    );
  });

  it("a linked person has one budget in all channels", async () => {
    const { world, started } = await open({
      ...daily({}),
      session: { identityLinks: { both: [`feishu:${ZHANG}`, `feishu:${LI}`] } },
    });
    world.script(() => ({ text: "an answer", usage }));
    await ask(started, "one");
    await ask(started, "two", LI);
    await ask(started, "three", LI);
    expect(modelRequests(world.anthropic)).toHaveLength(2);
    expect(await left(world)).toMatchObject([{ account: "sender both", spent: 9_000 }]);
  });

  it("a hook and a named token have one budget each, whatever conversation a request names", async () => {
    const secret = "Zv7TbW3sXk29fLq0-build";
    const { world, started } = await open({
      ...daily({}),
      hooks: { build: { secret, session: "{{session}}" } },
    });
    world.script(() => ({ text: "an answer", usage }));
    const added = await world.command(["tokens", "add", "alice", "--json"]);
    const { token } = JSON.parse(added.out);
    const post = (path: string, bearer: string, body: object): Promise<Response> =>
      fetch(started.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${bearer}` },
        body: JSON.stringify(body),
      });
    for (const name of ["one", "two", "three"]) {
      expect((await post("/hooks/build", secret, { session: name })).status).toBe(202);
      await started.settled();
      const messages = [{ role: "user", content: name }];
      await post("/v1/chat/completions", token, { model: "coder", user: name, messages });
    }
    expect(await left(world)).toMatchObject([
      { account: "sender api:token:alice", spent: 9_000 },
      { account: "sender web:hook build", spent: 9_000 },
    ]);
  });

  it("a cheaper model answers if the budget names one", async () => {
    const { world, started } = await open(daily({ action: "cheaper", model: "anthropic/claude-haiku-4-5" }));
    world.script(() => ({ text: "an answer", usage }));
    for (const text of ["one", "two", "three"]) await ask(started, text);
    expect(modelRequests(world.anthropic).map(({ body }) => body.model)).toEqual([
      "claude-sonnet-4-6",
      "claude-sonnet-4-6",
      "claude-haiku-4-5",
    ]);
  });

  it.each([
    ["allow", "an answer", 3],
    ["deny", "Sorry, I could not answer: the budget is used up. /usage shows when it resets.", 2],
  ])("an owner who is asked may %s more", async (answer, reply, calls) => {
    const { world, started } = await open(daily({ action: "ask" }));
    world.script(() => ({ text: "an answer", usage }));
    for (const text of ["one", "two"]) await ask(started, text);
    await started.post(textMessage("three", from(ZHANG)));
    await eventually(() => said(world).length > 2, "the question is put");
    const question = said(world).at(-1) ?? "";
    expect(question).toContain("Budget used up: each sender, $0.006000 a day.");
    expect(question).toContain(`Grant "sender feishu:${ZHANG}" $0.006000 more, until `);
    const id = /Approval (\w{8}):/.exec(question)?.[1] ?? "";
    await started.post(textMessage(`/approve ${id} ${answer}`, from(ZHANG)));
    await started.settled();
    expect(said(world)).toContain(reply);
    expect(modelRequests(world.anthropic)).toHaveLength(calls);
  });

  it("reservations of a killed gateway count as spent, exactly once", async () => {
    const world = await openWorld();
    world.configure(exampleConfig({ access: OWNED, ...daily({ usd: 10 }) }));
    let asked = 0;
    world.script(() =>
      ++asked === 1 ? { text: "too late", delayMs: 60_000 } : { text: "an answer", usage },
    );
    const killed = await world.startChild();
    await killed.post(textMessage("one", from(ZHANG)));
    await eventually(() => asked === 1, "the model is asked");
    const [before] = await left(world);
    expect(before).toMatchObject({ account: `sender feishu:${ZHANG}`, spent: 0 });
    await killed.end("SIGKILL");
    const again = await world.start();
    await again.settled();
    expect(said(world)).toEqual(["an answer"]);
    expect(await left(world)).toMatchObject([{ spent: Number(before?.["reserved"]) + 4_500, reserved: 0 }]);
  });
});
