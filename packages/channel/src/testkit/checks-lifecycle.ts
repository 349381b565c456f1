import { strict as assert } from "node:assert";
import { setTimeout as delay } from "node:timers/promises";
import { turns } from "./bench.ts";
import type { Check } from "./check.ts";

const group = "lifecycle";

/** Handles that keep a process alive. */
function handles(): number {
  return process.getActiveResourcesInfo().filter((name) => name !== "Immediate").length;
}

/** Coming and going. */
export const lifecycleChecks: readonly Check[] = [
  {
    group,
    name: "says how it is",
    async run({ open }) {
      await using bench = await open({ start: false });
      assert.equal(bench.channel.health().state, "starting");
      await bench.channel.start(new AbortController().signal);
      assert.equal(bench.channel.health().state, "ready");
      await bench.channel.stop({ drainMs: 0 });
      assert.equal(bench.channel.health().state, "stopped");
    },
  },
  {
    group,
    name: "may be stopped twice, and before it started",
    async run({ open }) {
      await using bench = await open({ start: false });
      await bench.channel.stop({ drainMs: 0 });
      await bench.channel.stop({ drainMs: 0 });
      assert.equal(bench.channel.health().state, "stopped");
      await bench.channel.start(new AbortController().signal).catch(() => undefined);
      assert.equal(bench.channel.health().state, "stopped");
    },
  },
  {
    group,
    name: "may be stopped while it starts",
    async run({ open }) {
      await using bench = await open({ start: false });
      const starting = bench.channel.start(new AbortController().signal).catch(() => undefined);
      await bench.channel.stop({ drainMs: 0 });
      await starting;
      await turns();
      assert.equal(bench.channel.health().state, "stopped");
      const late = { eventId: "event-1", messageId: "message-1", text: "late", from: "person" } as const;
      assert.equal(await bench.platform.deliver(bench.channel, late).catch(() => false), false);
      assert.deepEqual(bench.events, []);
    },
  },
  {
    group,
    name: "does not start under a signal that has fired",
    async run({ open }) {
      await using bench = await open({ start: false });
      await assert.rejects(bench.channel.start(AbortSignal.abort()));
    },
  },
  {
    group,
    name: "starts and stops twenty times without leaving a handle",
    async run({ open }) {
      const round = async () => {
        await using bench = await open();
        assert.equal(bench.channel.health().state, "ready");
      };
      await round();
      await turns();
      const before = handles();
      for (let count = 0; count < 20; count += 1) await round();
      let after = handles();
      for (let wait = 0; wait < 20 && after > before; wait += 1) {
        await delay(50);
        after = handles();
      }
      assert.ok(after <= before, `${after} handles, ${before} before`);
    },
  },
];
