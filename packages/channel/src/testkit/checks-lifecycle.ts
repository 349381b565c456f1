import { setTimeout as delay } from "node:timers/promises";
import type { Health } from "../contract/definition.ts";
import { turns } from "./bench.ts";
import type { Check } from "./check.ts";
import { expectEqual, expectThat } from "./expect.ts";

const group = "lifecycle";

/** Returns the number of handles that keep the process alive. */
function countHandles(): number {
  return process.getActiveResourcesInfo().filter((name) => name !== "Immediate").length;
}

function expectState(health: Health, state: Health["state"], when: string): void {
  expectEqual(health.state, state, `The health must be ${state} ${when}`);
}

/** Checks of starting and stopping. */
export const lifecycleChecks: readonly Check[] = [
  {
    group,
    name: "reports its health",
    async run({ open }) {
      await using bench = await open({ start: false });
      expectState(bench.channel.health(), "starting", "before start");
      await bench.channel.start(new AbortController().signal);
      expectState(bench.channel.health(), "ready", "after start");
      await bench.channel.stop({ drainMs: 0 });
      expectState(bench.channel.health(), "stopped", "after stop");
    },
  },
  {
    group,
    name: "can be stopped twice, and before it starts",
    async run({ open }) {
      await using bench = await open({ start: false });
      await bench.channel.stop({ drainMs: 0 });
      await bench.channel.stop({ drainMs: 0 });
      expectState(bench.channel.health(), "stopped", "after stop, even if start was never called");
      await bench.channel.start(new AbortController().signal).catch(() => undefined);
      expectState(bench.channel.health(), "stopped", "if start is called after stop");
    },
  },
  {
    group,
    name: "can be stopped while it starts",
    async run({ open }) {
      await using bench = await open({ start: false });
      const starting = bench.channel.start(new AbortController().signal).catch(() => undefined);
      await bench.channel.stop({ drainMs: 0 });
      await starting;
      await turns();
      expectState(bench.channel.health(), "stopped", "if stop is called during start");
      const late = { eventId: "event-1", messageId: "message-1", text: "late", from: "person" } as const;
      const isAcknowledged = await bench.platform.deliver(bench.channel, late).catch(() => false);
      expectThat(!isAcknowledged, "A channel that was stopped during start must not acknowledge messages");
      expectEqual(bench.events, [], "A channel that was stopped during start must not emit events");
    },
  },
  {
    group,
    name: "does not start if already aborted",
    async run({ open }) {
      await using bench = await open({ start: false });
      const isRejected = await bench.channel.start(AbortSignal.abort()).then(
        () => false,
        () => true,
      );
      expectThat(isRejected, "start must reject if its signal has already fired");
    },
  },
  {
    group,
    name: "starts and stops twenty times without leaking handles",
    async run({ open }) {
      const round = async () => {
        await using bench = await open();
        expectState(bench.channel.health(), "ready", "after start");
      };
      await round();
      await turns();
      const before = countHandles();
      for (let count = 0; count < 20; count += 1) await round();
      let after = countHandles();
      for (let wait = 0; wait < 20 && after > before; wait += 1) {
        await delay(50);
        after = countHandles();
      }
      expectThat(
        after <= before,
        `After twenty starts and stops, ${after} timers and sockets are open, but only ${before} were open before`,
      );
    },
  },
];
