import type { ChannelDefinition, ChannelState } from "../contract/definition.ts";
import type { InboundEvent } from "../contract/events.ts";
import type { Json } from "../contract/json.ts";
import { account, type Bench, eventually, turns } from "./bench.ts";
import type { Check } from "./check.ts";
import { checkEvent } from "./check-event.ts";
import { expectEqual, expectThat } from "./expect.ts";
import type { Delivery } from "./harness.ts";

const group = "intake";

function requiresHandedOver({ capabilities }: ChannelDefinition): string | undefined {
  return capabilities.intake === "handed_over"
    ? undefined
    : "the platform redelivers, or is read from a position";
}

function createDelivery(number: number): Delivery {
  return {
    eventId: `event-${number}`,
    messageId: `message-${number}`,
    text: `word ${number}`,
    from: "person",
  };
}

/** In-memory channel state. `copy` returns the state that a crash at this moment would leave behind. */
function createState(entries: ReadonlyMap<string, Json> = new Map()) {
  const values = new Map(entries);
  const state: ChannelState = {
    get: async (key) => values.get(key),
    set: async (key, value) => void values.set(key, value),
    delete: async (key) => void values.delete(key),
  };
  return { state, copy: () => createState(values) };
}

function getGaps<Address>({ events }: Bench<Address>): readonly InboundEvent[] {
  return events.filter((event) => event.type === "lifecycle" && event.what === "gap");
}

/** Checks of channels whose platform does not redeliver events. */
export const intakeChecks: readonly Check[] = [
  {
    group,
    name: "keeps a rejected message and emits it again",
    applies: requiresHandedOver,
    async run({ open, waitMs }) {
      await using bench = await open();
      let attempts = 0;
      bench.onEmit = async (event) => {
        if (event.type !== "message") return "accepted";
        attempts += 1;
        if (attempts === 1) return "rejected";
        if (attempts === 2) throw new Error("the disk is full");
        bench.events.push(event);
        return "accepted";
      };
      void bench.platform.deliver(bench.channel, createDelivery(1)).catch(() => false);
      await eventually(
        () => bench.events.length === 1,
        "A message must be emitted again after emit rejected it or failed, because the platform has forgotten it",
        waitMs,
      );
    },
  },
  {
    group,
    name: "reports a gap after a crash, and none after an orderly stop",
    applies: requiresHandedOver,
    async run({ open, waitMs, definition: { id } }) {
      const before = createState();
      await using first = await open({ context: { state: before.state } });
      await first.platform.deliver(first.channel, createDelivery(1));
      expectEqual(getGaps(first), [], "The first start of an account must not report a gap");
      const crashed = before.copy();
      await first.channel.stop({ drainMs: 1_000 });

      await using second = await open({ platform: first.platform, context: { state: crashed.state } });
      await eventually(
        () => getGaps(second).length > 0,
        "A channel must emit a lifecycle event `gap` if its last process ended without stop",
        waitMs,
      );
      for (const gap of getGaps(second))
        expectEqual(
          checkEvent(gap, { channel: id, account }),
          [],
          "The event of the gap violates the contract",
        );
      expectThat(
        new Set(getGaps(second).map(({ eventId }) => eventId)).size === 1,
        "A channel must report a gap once",
      );
      await second.channel.stop({ drainMs: 1_000 });

      await using third = await open({ platform: first.platform, context: { state: crashed.state } });
      await third.platform.deliver(third.channel, createDelivery(2));
      await turns();
      expectEqual(getGaps(third), [], "A channel must not report a gap after an orderly stop");
    },
  },
];
