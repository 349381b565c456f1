import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createHooks, type HookFailure, type Hooks } from "../../src/hooks/hooks.ts";
import type { Blocking, Hook, Modified, Observed, PointDefinitions } from "../../src/hooks/point-types.ts";

interface Kitchen {
  readonly ordered: Observed<{ readonly dish: string }>;
  readonly before_serving: Modified<
    {
      readonly dish: string;
      readonly sauces: readonly string[];
      readonly table: { readonly seats: string[] };
    },
    "dish" | "sauces"
  >;
  readonly before_cooking: Blocking<{ readonly dish: string; readonly minutes: number }, "minutes">;
}

const POINTS: PointDefinitions<Kitchen> = {
  ordered: { kind: "observe" },
  before_serving: {
    kind: "modify",
    change: z.object({ dish: z.optional(z.string()), sauces: z.optional(z.array(z.string())) }),
  },
  before_cooking: { kind: "block", change: z.object({ minutes: z.optional(z.number()) }) },
};

const SERVED = { dish: "soup", sauces: [], table: { seats: ["anna"] } } as const satisfies object;
const serving = () => ({ ...SERVED, table: { seats: [...SERVED.table.seats] } });
const COOKED = { dish: "soup", minutes: 5 };

const never = () => new Promise<never>(() => {});

/** Hooks whose time is over at once where a limit of theirs is 1 ms. */
function setup(
  hooks: readonly Hook<Kitchen>[],
  own: readonly Hook<Kitchen>[] = [],
): { hooks: Hooks<Kitchen>; failures: HookFailure[] } {
  const failures: HookFailure[] = [];
  const startTimer = (ms: number, task: () => void): (() => void) => {
    const immediate = ms === 1 ? setImmediate(task) : undefined;
    return () => clearImmediate(immediate);
  };
  const options = {
    points: POINTS,
    hooks,
    own,
    startTimer,
    onFailure: (one: HookFailure) => failures.push(one),
  };
  return { hooks: createHooks<Kitchen>(options), failures };
}

describe("observers", () => {
  it("run side by side, and nothing waits for them", async () => {
    const seen: string[] = [];
    const released = Promise.withResolvers<void>();
    const { hooks } = setup([
      { point: "ordered", name: "slow", run: () => released.promise.then(() => void seen.push("slow")) },
      { point: "ordered", name: "quick", run: ({ dish }) => void seen.push(dish) },
    ]);
    hooks.observe("ordered", { dish: "soup" });
    expect(seen).toEqual(["soup"]);
    released.resolve();
    await hooks.idle();
    expect(seen).toEqual(["soup", "slow"]);
  });

  it("may fail or time out: each failure is reported with the hook's name", async () => {
    const { hooks, failures } = setup([
      {
        point: "ordered",
        name: "broken",
        run: () => {
          throw new Error("out of order");
        },
      },
      { point: "ordered", name: "late", timeoutMs: 1, run: never },
    ]);
    hooks.observe("ordered", { dish: "soup" });
    await hooks.idle();
    expect(failures).toMatchObject([
      { hook: "broken", point: "ordered", error: new Error("out of order"), consequence: "ignored" },
      {
        hook: "late",
        point: "ordered",
        error: new Error("it took longer than 1 ms"),
        consequence: "ignored",
      },
    ]);
  });
});

describe("modifiers", () => {
  const adds = (name: string, sauce: string): Hook<Kitchen> => ({
    point: "before_serving",
    name,
    run: ({ sauces }) => ({ sauces: [...sauces, sauce] }),
  });

  it("run one after the other on the result of the previous one, built-in ones first", async () => {
    const quiet: Hook<Kitchen> = { point: "before_serving", name: "quiet", run: () => undefined };
    const { hooks } = setup([adds("first", "b"), quiet, adds("second", "c")], [adds("own", "a")]);
    expect((await hooks.modify("before_serving", serving())).sauces).toEqual(["a", "b", "c"]);
  });

  it("that fail or time out change nothing, and a timeout aborts their signal", async () => {
    const signals: AbortSignal[] = [];
    const { hooks, failures } = setup([
      { point: "before_serving", name: "broken", run: () => Promise.reject(new Error("no")) },
      {
        point: "before_serving",
        name: "late",
        timeoutMs: 1,
        run: (_, signal) => {
          signals.push(signal);
          return never();
        },
      },
      adds("last", "z"),
    ]);
    expect(await hooks.modify("before_serving", serving())).toEqual({ ...serving(), sauces: ["z"] });
    expect(failures.map(({ hook, consequence }) => [hook, consequence])).toEqual([
      ["broken", "skipped"],
      ["late", "skipped"],
    ]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it("get a frozen copy, while built-in hooks get the original", async () => {
    const payload = serving();
    const seen: unknown[] = [];
    const { hooks, failures } = setup(
      [
        {
          point: "before_serving",
          name: "scribbler",
          run: ({ table }) => {
            expect(Reflect.set(table, "seats", [])).toBe(false);
            table.seats.push("ben");
            return { dish: "scribbled" };
          },
        },
        { point: "before_serving", name: "reader", run: ({ table }) => void seen.push(table) },
      ],
      [{ point: "before_serving", name: "own", run: ({ table }) => void seen.push(table) }],
    );
    expect(await hooks.modify("before_serving", payload)).toEqual(serving());
    expect(seen[0]).toBe(payload.table);
    expect(seen[1]).toEqual(payload.table);
    expect(seen[1]).not.toBe(payload.table);
    expect(failures).toMatchObject([{ hook: "scribbler" }]);
  });

  it.each([7, { dish: 7 }, "text", [], { dish: null }])(
    "cannot change anything by returning %j",
    async (returned) => {
      const text = JSON.stringify(returned);
      const { hooks, failures } = setup([
        { point: "before_serving", name: "odd", run: () => JSON.parse(text) },
      ]);
      expect(await hooks.modify("before_serving", serving())).toEqual(serving());
      expect(String(failures[0]?.error)).toContain("invalid result");
    },
  );

  it("cannot change fields that the point does not allow", async () => {
    const more = { dish: "stew", table: { seats: [] } };
    const { hooks } = setup([{ point: "before_serving", name: "more", run: () => more }]);
    expect(await hooks.modify("before_serving", serving())).toEqual({ ...serving(), dish: "stew" });
  });
});

describe("gates", () => {
  type Run = Extract<Hook<Kitchen>, { point: "before_cooking" }>["run"];
  const blockingHook = (run: Run): Hook<Kitchen> => ({
    point: "before_cooking",
    name: "guard",
    timeoutMs: 1,
    run,
  });

  it("allow a payload that no hook denies, and stop at the first denial", async () => {
    const asked: string[] = [];
    const notes = (name: string): Hook<Kitchen> => blockingHook(() => void asked.push(name));
    const { hooks } = setup([
      notes("first"),
      blockingHook(({ dish }) =>
        dish === "fugu" ? { action: "deny", reason: "no fish" } : { action: "allow" },
      ),
      notes("third"),
    ]);
    expect(await hooks.check("before_cooking", { ...COOKED, dish: "fugu" })).toEqual({
      action: "deny",
      reason: "no fish",
    });
    expect(asked).toEqual(["first"]);
    expect(await hooks.check("before_cooking", COOKED)).toEqual({
      action: "allow",
      payload: COOKED,
      changed: false,
    });
    expect(asked).toEqual(["first", "first", "third"]);
  });

  it("may change the payload, and later hooks see the change", async () => {
    const seen: number[] = [];
    const { hooks } = setup([
      blockingHook(() => ({ action: "allow", change: { minutes: 3 } })),
      blockingHook(({ minutes }) => void seen.push(minutes)),
    ]);
    expect(await hooks.check("before_cooking", COOKED)).toEqual({
      action: "allow",
      payload: { ...COOKED, minutes: 3 },
      changed: true,
    });
    expect(seen).toEqual([3]);
  });

  it.each<[string, Hook<Kitchen>]>([
    [
      "throws",
      blockingHook(() => {
        throw new Error("broken");
      }),
    ],
    ["rejects", blockingHook(() => Promise.reject(new Error("broken")))],
    ["is late", blockingHook(never)],
    // What a program without types may say.
    ["says something else", blockingHook(() => JSON.parse('{"action":"maybe"}'))],
    ["says nothing that can be read", blockingHook(() => JSON.parse("7"))],
    [
      "changes what it may not",
      blockingHook(() => JSON.parse('{"action":"allow","change":{"minutes":"few"}}')),
    ],
  ])("deny when one %s", async (_what, hook) => {
    const { hooks } = setup([hook]);
    expect(await hooks.check("before_cooking", COOKED)).toMatchObject({ action: "deny" });
  });
});

it("refuses a hook at a point that does not exist", () => {
  expect(() => setup([JSON.parse('{"point":"before_lunch","name":"x"}')])).toThrow("before_lunch");
});

it("reports the points that have hooks", () => {
  const { hooks } = setup([{ point: "ordered", name: "t", run: () => {} }]);
  expect([hooks.has("ordered"), hooks.has("before_cooking")]).toEqual([true, false]);
});
