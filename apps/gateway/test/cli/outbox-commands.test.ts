import { textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { eventually, exampleConfig, inStore, openWorld, type World, ZHANG } from "../support/harness.ts";

const STATES = ["pending", "sending", "sent", "uncertain", "dead", "expired"] as const;

function outbox(world: World, args: readonly string[], env = {}) {
  return world.command(["outbox", ...args], env);
}

function rows(world: World) {
  return inStore(world, (store) => store.outbox.list({ states: STATES }));
}

/** A gateway whose one reply was refused for good, and which waits for nothing. */
async function withDeadLetter(world: World, leaseMs: number) {
  world.configure(exampleConfig());
  world.script([{ text: "the answer" }]);
  // The bot has no right to write there, until somebody gives it back.
  world.feishu.fail({ kind: "code", code: 230_002, method: "POST", times: 50 });
  const started = await world.start({ leaseMs });
  await started.post(textMessage("a question", { senderId: ZHANG, messageId: "om_1" }));
  await eventually(async () => (await rows(world))[0]?.state === "dead", "the reply is dead");
  world.feishu.heal();
  const [row] = await rows(world);
  if (row === undefined) throw new Error("one row");
  return { started, id: row.id };
}

describe("outbox commands", () => {
  it("have a running gateway send a dead letter at once", async () => {
    const world = await openWorld();
    // It looks by itself every three minutes only.
    const { started, id } = await withDeadLetter(world, 600_000);
    const listed = await outbox(world, ["list"]);
    expect(listed.out).toMatch(
      new RegExp(`^ID +STATE +WHERE +TIME +TRIES +ERROR\n${id}  dead   feishu/main`),
    );
    const doctor = await world.command(["doctor"]);
    expect(doctor.out).toContain("warning outbox: 1 reply was not delivered");
    const retried = await outbox(world, ["retry", id, "--json"]);
    expect(JSON.parse(retried.out)).toEqual({ id, was: "dead", done: "retry", when: "now" });
    await eventually(() => world.feishu.sent.length === 1, "the reply is out");
    await eventually(async () => (await rows(world))[0]?.state === "sent", "the reply is noted");
    expect((await outbox(world, ["list"])).out).toBe("No undelivered replies.\n");
    for (const what of ["retry", "drop"]) {
      const refused = await outbox(world, [what, id]);
      expect(refused.code).toBe(1);
      expect(refused.err).toContain("it was already delivered");
    }
    const unknown = await outbox(world, ["drop", "nonsense"]);
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining("There is no reply nonsense")]);
    await started.stop();
  });

  it("reach a gateway that cannot be told a moment later", async () => {
    const world = await openWorld();
    const { started, id } = await withDeadLetter(world, 3_000);
    world.configure(exampleConfig({ gateway: { port: 0, auth: { token: "another-token-than-it-has" } } }));
    const retried = await outbox(world, ["retry", id]);
    expect(retried.out).toContain("cannot be reached from here");
    await eventually(() => world.feishu.sent.length === 1, "the reply is out");
    await started.stop();
  });

  it("list what waits when asked to, and drop it", async () => {
    const world = await openWorld();
    const { started, id } = await withDeadLetter(world, 600_000);
    await started.stop();
    expect((await outbox(world, ["retry", id])).out).toBe(
      `${id} will be sent again when the gateway starts.\n`,
    );
    expect((await outbox(world, ["list"])).out).toBe("No undelivered replies.\n");
    expect(JSON.parse((await outbox(world, ["list", "--all", "--json"])).out)).toMatchObject([
      { id, state: "pending" },
    ]);
    expect((await outbox(world, ["drop", id])).out).toBe(`Dropped ${id}, which was pending.\n`);
    expect((await outbox(world, ["list", "--all"])).out).toBe("All replies were delivered.\n");
    expect(world.feishu.sent).toEqual([]);
  });
});
