import { describe, expect, it } from "vitest";
import { askingConfig, REACH } from "../support/asking-config.ts";
import { eventually, inStore, namedEnds, openWorld, TOKEN } from "../support/harness.ts";
import { type PlainChannel, plainChannel, plainMessage, said } from "../support/plain-channel.ts";

/** The last question's. */
function idIn(plain: PlainChannel): string {
  return said(plain).reduce((last, text) => /Approval (\w{8}):/.exec(text)?.[1] ?? last, "");
}

const QUOTE = { references: [{ kind: "reply" as const, messageId: "m0", text: "rm" }] };

describe("while a question is open", () => {
  it.each([
    ["a turn", "please run it", undefined],
    ["a command", "/reach echo done", "command:reach"],
  ])("for %s, others go on in its place", async (_, text, rule) => {
    const world = await openWorld();
    world.configure(askingConfig({ maxRuns: 1 }, { dm: "open" }));
    world.files({ "skills/reach/SKILL.md": REACH });
    world.script((_, index) =>
      index === 0 && text === "please run it"
        ? { toolCalls: [{ id: "toolu_1", name: "exec", input: { command: "echo done" } }] }
        : { text: "fine" },
    );
    const plain = plainChannel();
    const started = await world.start({ channels: [plain.definition] });
    await plain.emit(plainMessage("m1", text, QUOTE));
    await eventually(() => idIn(plain) !== "", "the question is put");
    const ben = {
      conversation: { id: "ben's", kind: "direct" },
      address: "plain:ben",
      sender: { id: "ben", isBot: false, isSelf: false },
    } as const;
    await plain.emit(plainMessage("m2", "hello", ben));
    await eventually(() => said(plain).length === 2, "the other one is answered");
    expect((await namedEnds(world)).slice(0, 2)).toEqual([
      ["m1", "running", undefined],
      ["m2", "replied", undefined],
    ]);
    const metrics = await fetch(`${started.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
    expect(await metrics.text()).toMatch(/^signalbox_runs_active 1$/m);
    await plain.emit(plainMessage("m3", `/approve ${idIn(plain)} allow`));
    await started.settled();
    expect((await namedEnds(world))[0]).toEqual(["m1", "replied", rule]);
  });

  /** A gateway that asks about a command, and whose disk is full for one write as it is answered. */
  async function failing(write: number) {
    const world = await openWorld();
    world.configure(askingConfig({ maxRuns: 64 }, { dm: "open" }));
    world.files({ "skills/reach/SKILL.md": REACH });
    const plain = plainChannel();
    let left = Number.POSITIVE_INFINITY;
    const started = await world.start({
      channels: [plain.definition],
      failpoints: (point) => {
        if (point === "db.write" && --left === 0)
          throw Object.assign(new Error("the disk is full"), { code: "SQLITE_FULL" });
      },
    });
    const runs = async () =>
      (await inStore(world, (store) => store.runs.list())).map((run) => [run.state, run.attempts]);
    await plain.emit(plainMessage("m1", "/reach echo done", QUOTE));
    await eventually(async () => (await runs()).flat().at(-1) === 0, "that it waits is noted");
    await eventually(() => idIn(plain) !== "", "the question is put");
    left = write;
    let approvals = 0;
    const approve = () =>
      plain.emit(plainMessage(`a${++approvals}`, `/approve ${idIn(plain)} allow`)).catch(() => {});
    return { started, runs, approve, hasFailed: () => left <= 0 };
  }

  /** One of them is that the run does not wait any more. */
  const WRITES = Array.from({ length: 10 }, (_, index) => index + 1);

  it("a failed write during the answer does not count the waiting run twice", async () => {
    const ends = await Promise.all(
      WRITES.map(async (write) => {
        const { started, runs, approve } = await failing(write);
        await eventually(async () => {
          await approve();
          return (await runs()).flat()[0] === "completed";
        }, "it is done");
        await started.settled();
        return runs();
      }),
    );
    expect(ends).toEqual(WRITES.map(() => [["completed", 1]]));
  });

  it("a stop before the retry does not count the waiting run twice", async () => {
    const ends = await Promise.all(
      WRITES.map(async (write) => {
        const { started, runs, approve, hasFailed } = await failing(write);
        await approve();
        // The run is tried again only after a while.
        await eventually(
          async () => hasFailed() || (await runs()).flat()[0] === "completed",
          "it failed or is done",
        );
        await started.stop();
        return runs();
      }),
    );
    for (const runs of ends) expect([[["completed", 1]], [["running", 0]]]).toContainEqual(runs);
  });
});
