import { describe, expect, it } from "vitest";
import type { Failpoint } from "./crash/failpoints.ts";
import { exampleConfig, namedEnds, openWorld } from "./harness.ts";
import { plainChannel, plainMessage, said } from "./plain-channel.ts";

function config(more: object = {}) {
  return exampleConfig({ channels: { plain: { accounts: { main: {} } } }, ...more });
}

const SORRY = /something went wrong inside the gateway/;

describe("a fault of the gateway's own", () => {
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

  it("where a run is taken up again ends it once", async () => {
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
});
