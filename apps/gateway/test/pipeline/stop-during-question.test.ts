import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { askingConfig, REACH } from "../support/asking-config.ts";
import { eventually, inStore, openWorld } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { plainChannel, plainMessage, said } from "../support/plain-channel.ts";

function idIn(question: string | undefined): string {
  return /Approval (\w{8}):/.exec(question ?? "")?.[1] ?? "";
}

describe("a stop while a question is open", () => {
  it.each([
    ["a turn", "please run it", 2],
    ["a command", "/reach echo done >> ran", 0],
  ])("does not wait for the answer to %s; the next start asks anew", async (_, text, requests) => {
    const world = await openWorld();
    world.configure(askingConfig({ shutdownMs: 600_000 }));
    world.files({ "skills/reach/SKILL.md": REACH });
    world.script([
      { toolCalls: [{ id: "toolu_1", name: "exec", input: { command: "echo done >> ran" } }] },
      { text: "it ran" },
    ]);
    const plain = plainChannel();
    const first = await world.start({ channels: [plain.definition] });
    await plain.emit(
      plainMessage("m1", text, { references: [{ kind: "reply" as const, messageId: "m0", text: "rm" }] }),
    );
    await eventually(() => plain.sent.length === 1, "the question is put");
    await first.stop();
    const open = await inStore(world, (store) => store.inbox.list({ state: "running" }));
    expect(open.map(({ messageId }) => messageId)).toEqual(["m1"]);

    const again = plainChannel();
    const second = await world.start({ channels: [again.definition] });
    await eventually(() => again.sent.length === 1, "it is asked anew");
    expect(idIn(said(again)[0])).not.toBe(idIn(said(plain)[0]));
    await again.emit(plainMessage("m2", `/approve ${idIn(said(plain)[0])} allow`));
    await eventually(() => again.sent.length === 2, "the old question is gone");
    expect(said(again)[1]).toMatch(/has expired/);
    const ran = join(world.home.workspace("coder"), "ran");
    expect(existsSync(ran)).toBe(false);
    await again.emit(plainMessage("m3", `/approve ${idIn(said(again)[0])} allow`));
    await second.settled();
    expect(existsSync(ran)).toBe(true);
    expect(modelRequests(world.anthropic)).toHaveLength(requests);
    expect(said(again).join("\n")).not.toMatch(/may or may not|Outcome unknown/);
  });

  it("does not count a crash while waiting against a command", async () => {
    const world = await openWorld();
    world.configure(askingConfig({ shutdownMs: 600_000 }));
    world.files({ "skills/reach/SKILL.md": REACH });
    const plain = plainChannel();
    const started = await world.start({ channels: [plain.definition] });
    const attempts = async () =>
      (await inStore(world, (store) => store.runs.list())).map((run) => [run.state, run.attempts]);
    const text = "/reach echo done >> ran";
    await plain.emit(
      plainMessage("m1", text, { references: [{ kind: "reply" as const, messageId: "m0", text: "rm" }] }),
    );
    await eventually(() => plain.sent.length === 1, "the question is put");
    await eventually(async () => (await attempts()).flat().at(-1) === 0, "that it waits is noted");
    await plain.emit(plainMessage("m2", `/approve ${idIn(said(plain)[0])} allow`));
    await started.settled();
    expect(await attempts()).toEqual([["completed", 1]]);
  });

  it("counts a crash against the message only after the tool may run", async () => {
    const world = await openWorld();
    world.configure(askingConfig({ shutdownMs: 600_000 }));
    const asked = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    world.script(async (_, index) => {
      if (index === 0)
        return { toolCalls: [{ id: "toolu_1", name: "exec", input: { command: "echo done >> ran" } }] };
      asked.resolve();
      await goOn.promise;
      return { text: "it ran" };
    });
    const plain = plainChannel();
    const started = await world.start({ channels: [plain.definition] });
    const attempts = async () =>
      (await inStore(world, (store) => store.runs.list())).map((run) => [run.state, run.attempts]);
    await plain.emit(
      plainMessage("m1", "please run it", {
        references: [{ kind: "reply" as const, messageId: "m0", text: "rm" }],
      }),
    );
    await eventually(() => plain.sent.length === 1, "the question is put");
    await eventually(async () => (await attempts()).flat().at(-1) === 0, "that it waits is noted");
    await plain.emit(plainMessage("m2", `/approve ${idIn(said(plain)[0])} allow`));
    await asked.promise;
    expect(await attempts()).toEqual([["running", 1]]);
    goOn.resolve();
    await started.settled();
    expect(said(plain).at(-1)).toBe("it ran");
  });
});
