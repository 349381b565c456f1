import type { ModelRunUsage, RunUsage, UsageGroup } from "../../types/usage.ts";
import type { Suite } from "./suite.ts";
import { begun, only, takeLease } from "./support.ts";

export const usageSuite: Suite = ({ test, expect, open }) => {
  test("usage is summed exactly by day, agent, session and sender, before and after pruning", async () => {
    const { store, time } = await open();
    const lease = await takeLease(store);
    const day = 86_400_000;
    for (const [session, days, sender] of [
      ["a", 0, undefined],
      ["a", 0, "feishu:ou_a"],
      ["b", 1, "feishu:ou_b"],
    ] as const) {
      const { run, inboxIds } = await begun(store, lease, [`${session}${time.now}`], session, sender);
      await store.runs.finish({
        runId: run.id,
        lease,
        outcome: "completed",
        inbox: [{ id: only(inboxIds), state: "silent" }],
        usage: { modelCalls: 1, costMicros: 3_002_399_751_580_330 },
      });
      time.now += day * days + 1;
    }
    const sums = async () => [
      (await store.usage.sum({ by: "day" })).map((group) => [group.by, group.runs, group.costMicros]),
      (await store.usage.sum({ by: "session" })).map((group) => [group.by, group.runs]),
      (await store.usage.sum({ by: "agent", sessionKey: "a" })).map((group) => [group.by, group.costMicros]),
      (await store.usage.sum({ by: "sender" })).map((group) => [group.by, group.runs]),
      (await store.usage.sum({ by: "session", sender: "feishu:ou_b" })).map((group) => [
        group.by,
        group.runs,
      ]),
    ];
    const before = await sums();
    expect(before).toEqual([
      // Just below what a number can hold exactly.
      [["2026-11-21", 3, 9_007_199_254_740_990]],
      [
        ["a", 2],
        ["b", 1],
      ],
      [["coder", 6_004_799_503_160_660]],
      [
        ["", 1],
        ["feishu:ou_a", 1],
        ["feishu:ou_b", 1],
      ],
      [["b", 1]],
    ]);
    time.now += 40 * day;
    const tomorrow = Date.UTC(2026, 10, 22);
    expect(await store.usage.sum({ by: "day", from: tomorrow })).toEqual([]);
    // SQLite keeps the newest row, whose number it would use again.
    expect((await store.maintenance.prune()).runs).toBeGreaterThanOrEqual(2);
    expect(await sums()).toEqual(before);
    await expect(
      store.runs.finish({
        runId: (await begun(store, await takeLease(store), ["x"], "c")).run.id,
        lease,
        outcome: "completed",
        inbox: [],
        usage: { costMicros: 0.5 },
      }),
    ).rejects.toMatchObject({ code: "invalid" });
  });

  test("usage is summed by model, and usage without a known model keeps the sums complete", async () => {
    const { store, time } = await open();
    const lease = await takeLease(store);
    const day = 86_400_000;
    const finish = async (name: string, usage: RunUsage, models: readonly ModelRunUsage[] | undefined) => {
      const { run, inboxIds } = await begun(store, lease, [name], name, "feishu:ou_a");
      await store.runs.finish({
        runId: run.id,
        lease,
        outcome: "completed",
        inbox: [{ id: only(inboxIds), state: "silent" }],
        usage,
        models,
      });
    };
    const large = { model: "vendor/large", modelCalls: 2, inputTokens: 100, costMicros: 30 };
    const small = { model: "vendor/small", modelCalls: 1, inputTokens: 10, costMicros: 1 };
    await finish("fell back", { modelCalls: 3, inputTokens: 110, costMicros: 31 }, [large, small]);
    await finish("of an older gateway", { modelCalls: 1, inputTokens: 7, costMicros: 5 }, undefined);
    time.now += day;
    await finish("next day", { modelCalls: 2, inputTokens: 100, costMicros: 30 }, [large]);
    const short = ({ by, runs, modelCalls, inputTokens, costMicros }: UsageGroup) => [
      ...[by, runs, modelCalls, inputTokens, costMicros],
    ];
    expect((await store.usage.sum({ by: "model" })).map(short)).toEqual([
      ["", 1, 1, 7, 5],
      ["vendor/large", 1, 4, 200, 60],
      ["vendor/small", 1, 1, 10, 1],
    ]);
    expect((await store.usage.sum({ by: "model", from: time.now })).map(short)).toEqual([
      ["vendor/large", 1, 2, 100, 30],
    ]);
    const bySender = await store.usage.sum({ by: "model", sender: "feishu:ou_b" });
    expect(bySender).toEqual([]);
    expect((await store.usage.series({ by: "model" })).map((group) => [group.day, ...short(group)])).toEqual([
      ["2026-11-21", "", 1, 1, 7, 5],
      ["2026-11-21", "vendor/large", 0, 2, 100, 30],
      ["2026-11-21", "vendor/small", 1, 1, 10, 1],
      ["2026-11-22", "vendor/large", 1, 2, 100, 30],
    ]);
    for (const [name, bad] of [
      ["fraction", { ...small, costMicros: 0.5 }],
      ["nameless", { ...small, model: "" }],
    ] as const)
      await expect(finish(name, {}, [bad])).rejects.toMatchObject({ code: "invalid" });
  });
};
