import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import {
  type BindingMatch,
  checkBindings,
  createRouter,
  type RouteInput,
  type RoutingConfig,
} from "../src/index.ts";
import { alikeInput, binding, config, identityLinks, input, matchEdit } from "./arbitraries.ts";
import { openRouteCache } from "./open-route-cache.ts";
import { referenceRoute } from "./reference.ts";

const RUNS = 400;

// Generous, because fast-check has no time limit.
vi.setConfig({ testTimeout: 60_000 });

describe("a route", () => {
  it("equals the route of the reference implementation", () => {
    fc.assert(
      fc.property(config, fc.array(input, { minLength: 1, maxLength: 20 }), (config, messages) => {
        const router = createRouter(config);
        for (const message of messages) {
          const { sessionKey: _, ...route } = router.resolve(message);
          expect(route).toEqual(referenceRoute(config, message));
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("is the same from memory, from the durable cache and computed, after any edits", async () => {
    type Step =
      | { edit: RoutingConfig }
      | { place: number; match: Partial<BindingMatch> }
      | { swap: [number, number] }
      | { links: Record<string, string[]> }
      | { message: RouteInput }
      | { restart: true };
    const step: fc.Arbitrary<Step> = fc.oneof(
      { weight: 1, arbitrary: config.map((edit) => ({ edit })) },
      { weight: 2, arbitrary: fc.record({ place: fc.nat(23), match: matchEdit }) },
      { weight: 2, arbitrary: fc.tuple(fc.nat(23), fc.nat(23)).map((swap): Step => ({ swap })) },
      { weight: 1, arbitrary: identityLinks.map((links) => ({ links })) },
      { weight: 2, arbitrary: fc.constant({ restart: true } as const) },
      { weight: 20, arbitrary: alikeInput.map((message) => ({ message })) },
    );
    await fc.assert(
      fc.asyncProperty(config, fc.array(step, { minLength: 40, maxLength: 120 }), async (first, steps) => {
        // No pruning, so that a faulty lookup would return routes of old configurations.
        const cache = { ...(await openRouteCache()), prune: async () => 0 };
        let current = first;
        const small = { cache, maxRoutes: 16 };
        let router = createRouter(current, small);
        let uncached = createRouter(current, { maxRoutes: 0 });
        for (const step of steps) {
          if ("message" in step) {
            const route = router.resolve(step.message);
            expect(router.resolve(step.message)).toEqual(route);
            expect(uncached.resolve(step.message)).toEqual(route);
            continue;
          }
          await router.flush();
          if ("edit" in step) current = step.edit;
          if ("links" in step) current = { ...current, identityLinks: step.links };
          if ("place" in step) {
            const bindings = current.bindings.map((binding, place) =>
              place === step.place ? { ...binding, match: { ...binding.match, ...step.match } } : binding,
            );
            current = { ...current, bindings };
          }
          if ("swap" in step) current = { ...current, bindings: swapped(current.bindings, ...step.swap) };
          router = createRouter(current, small);
          uncached = createRouter(current, { maxRoutes: 0 });
          await router.warm();
        }
      }),
      { numRuns: RUNS / 4 },
    );
  });

  it("equals the explained route", () => {
    fc.assert(
      fc.property(config, input, (config, message) => {
        const router = createRouter(config);
        const { route, tiers } = router.explain(message);
        expect(route).toEqual(router.resolve(message));
        expect(tiers.filter((tier) => tier.outcome === "matched").map((tier) => tier.tier)).toEqual([
          route.matchedBy,
        ]);
        const place = tiers.findIndex((tier) => tier.outcome === "matched");
        expect(tiers.slice(0, place).every((tier) => tier.outcome === "no_match")).toBe(true);
        expect(tiers.slice(place + 1).every((tier) => tier.outcome === "not_reached")).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("checkBindings", () => {
  const dense = fc.record({
    bindings: fc.array(binding, { minLength: 2, maxLength: 12 }),
    agents: fc.constant(["coder", "flash", "main"]),
    defaultAgent: fc.constant("main"),
  });

  it("reports only bindings that never decide", () => {
    let reported = 0;
    fc.assert(
      fc.property(dense, fc.array(input, { minLength: 30, maxLength: 60 }), (config, messages) => {
        const dead = new Set(
          checkBindings(config).flatMap((problem) =>
            "bindingIndex" in problem ? [problem.bindingIndex] : [],
          ),
        );
        reported += dead.size;
        const router = createRouter(config, { maxRoutes: 0 });
        for (const message of messages) {
          const { bindingIndex } = router.resolve(message);
          if (bindingIndex !== undefined) expect(dead).not.toContain(bindingIndex);
        }
      }),
      { numRuns: RUNS },
    );
    expect(reported).toBeGreaterThan(RUNS);
  });

  it("names the bindings that shadow another one", () => {
    fc.assert(
      fc.property(dense, (config) => {
        for (const problem of checkBindings(config)) {
          if (problem.code !== "shadowed") continue;
          expect(problem.by).not.toContain(problem.bindingIndex);
          const kept = [problem.bindingIndex, ...problem.by].sort((a, b) => a - b);
          const alone = { ...config, bindings: kept.flatMap((index) => config.bindings[index] ?? []) };
          const again = checkBindings(alone).filter(({ code }) => code === "shadowed");
          expect(again.length).toBeGreaterThan(0);
        }
      }),
      { numRuns: RUNS },
    );
  });
});

function swapped<T>(list: readonly T[], a: number, b: number): T[] {
  const copy = [...list];
  const [x, y] = [copy[a], copy[b]];
  if (x === undefined || y === undefined) return copy;
  copy[a] = y;
  copy[b] = x;
  return copy;
}
