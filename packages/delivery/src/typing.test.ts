import type { Channel } from "@signalbox/channel";
import { plainMessage } from "@signalbox/channel/testkit";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../test/manual-clock.ts";
import { plainAccount, silentLogger } from "../test/plain.ts";
import { createTyping } from "./typing.ts";

async function setup(on = true, fails = false) {
  const seen: unknown[] = [];
  const methods: Pick<Channel, "typing"> = {
    typing: async (_to, state) => {
      seen.push([state.messageId, state.on]);
      if (fails) throw new Error("not here");
    },
  };
  const clock = createManualClock();
  const typing = createTyping({
    clock,
    account: () => plainAccount(methods),
    on: () => on,
    logger: silentLogger,
  });
  const begin = (messageId: string, resumed = false) =>
    typing.begin("run", plainMessage({ messageId }), resumed);
  return { clock, typing, begin, seen };
}

describe("the typing indicator", () => {
  it("appears for an answer that takes more than two seconds, and disappears with its end", async () => {
    const { clock, typing, begin, seen } = await setup();
    const quick = begin("m1");
    await clock.advance(1_000);
    quick();
    const slow = begin("m2");
    await clock.advance(2_000);
    expect(seen).toEqual([["m2", true]]);
    slow();
    await typing.idle();
    expect(seen).toEqual([
      ["m2", true],
      ["m2", false],
    ]);
  });

  it("of an earlier process is removed at the end of a resumed run", async () => {
    const { typing, begin, seen } = await setup();
    begin("m1", true)();
    await typing.idle();
    expect(seen).toEqual([["m1", false]]);
  });

  it("ignores failures, and is not shown if it is off or there is no message", async () => {
    const broken = await setup(true, true);
    const end = broken.begin("m1");
    await broken.clock.advance(2_000);
    end();
    await broken.typing.idle();
    expect(broken.seen).toHaveLength(2);
    const nowhere = await setup();
    const none = nowhere.begin("");
    await nowhere.clock.advance(3_000);
    none();
    expect(nowhere.seen).toEqual([]);
    const off = await setup(false);
    off.begin("m1", true)();
    expect(off.seen).toEqual([]);
  });
});
