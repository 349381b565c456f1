import { StoreError } from "@signalbox/store";
import { describe, expect, it } from "vitest";
import type { Failpoint } from "../proofs/crash/failpoints.ts";
import { exampleConfig, namedEnds, openWorld } from "../support/harness.ts";
import { plainChannel, plainMessage, said } from "../support/plain-channel.ts";

function config(more: object = {}) {
  return exampleConfig({ channels: { plain: { accounts: { main: {} } } }, ...more });
}

const SORRY = /something went wrong in the gateway/;

describe("an internal error", () => {
  it.each<Failpoint>(["begin.before", "begin.after"])(
    "at %s ends the message with a word, and what comes next is looked at",
    async (place) => {
      const world = await openWorld();
      world.configure(config());
      world.script(() => ({ text: "fine" }));
      const plain = plainChannel();
      let faulty = true;
      const started = await world.start({
        channels: [plain.definition],
        failpoints: (point) => {
          if (faulty && point === place) throw new TypeError("a fault");
        },
      });
      await plain.emit(plainMessage("m1", "hello"));
      await started.settled();
      faulty = false;
      await plain.emit(plainMessage("m2", "hello"));
      await started.settled();
      expect(said(plain)).toEqual([expect.stringMatching(SORRY), "fine"]);
      expect(await namedEnds(world)).toEqual([
        ["m1", "failed-reported", "internal"],
        ["m2", "replied", undefined],
      ]);
      expect(started.log().match(/a fault[^\n]*a run failed inside the gateway/g)).toHaveLength(1);
    },
  );

  it("that makes the store unusable does not let later messages overtake", async () => {
    const world = await openWorld();
    world.configure(config());
    world.script(() => ({ text: "fine" }));
    const before = plainChannel();
    const next = Promise.withResolvers<void>();
    let fatal = false;
    const started = await world.start({
      channels: [before.definition],
      failpoints: async (point) => {
        if (point !== "begin.before" || fatal) return;
        fatal = true;
        await next.promise;
        throw new StoreError("io", "The disk failed.");
      },
    });
    await before.emit(plainMessage("m1", "hello"));
    await before.emit(plainMessage("m2", "hello"));
    next.resolve();
    await before.emit(plainMessage("m3", "hello"));
    await expect(started.stop()).rejects.toThrow("The disk failed.");
    expect(said(before)).toEqual([]);
    const plain = plainChannel();
    const second = await world.start({ channels: [plain.definition] });
    await second.settled();
    expect(await namedEnds(world)).toEqual(["m1", "m2", "m3"].map((name) => [name, "replied", undefined]));
  });

  it("while a run is resumed ends the run once", async () => {
    const world = await openWorld();
    world.configure(config({ gateway: { port: 0, logLevel: "warn", shutdownMs: 0 } }));
    const asked = Promise.withResolvers<void>();
    world.script(async (_, index) => {
      asked.resolve();
      if (index === 0) await new Promise(() => {});
      return { text: "fine" };
    });
    const before = plainChannel();
    const first = await world.start({ channels: [before.definition] });
    await before.emit(plainMessage("m1", "hello"));
    await asked.promise;
    await first.stop();
    const plain = plainChannel();
    const second = await world.start({
      channels: [plain.definition],
      failpoints: (point) => {
        if (point === "adopt.after") throw new TypeError("a fault");
      },
    });
    await second.settled();
    await plain.emit(plainMessage("m2", "hello"));
    await second.settled();
    expect(said(plain)).toEqual([expect.stringMatching(SORRY), "fine"]);
    expect(await namedEnds(world)).toEqual([
      ["m1", "failed-reported", "internal"],
      ["m2", "replied", undefined],
    ]);
  });

  it("is not reported to a person who has deleted the message", async () => {
    const world = await openWorld();
    world.configure(config({ gateway: { port: 0, logLevel: "warn", shutdownMs: 0 } }));
    const asked = Promise.withResolvers<void>();
    world.script(async () => {
      asked.resolve();
      return new Promise(() => {});
    });
    const before = plainChannel();
    const first = await world.start({ channels: [before.definition] });
    const message = plainMessage("m1", "hello");
    await before.emit(message);
    await asked.promise;
    await first.stop();
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const plain = plainChannel();
    const second = await world.start({
      channels: [plain.definition],
      failpoints: async (point) => {
        if (point !== "adopt.after") return;
        reached.resolve();
        await goOn.promise;
        throw new TypeError("a fault");
      },
    });
    await reached.promise;
    await plain.emit({ ...message, type: "deleted", eventId: "gone" });
    goOn.resolve();
    await second.settled();
    expect(said(plain)).toEqual([]);
    expect(await namedEnds(world)).toEqual([["m1", "ignored", "deleted"]]);
  });
});
