import { it } from "vitest";
import { manualClock } from "../../test/manual-clock.ts";
import { outboxConformance } from "./conformance.ts";
import { createMemoryOutbox } from "./memory-outbox.ts";

outboxConformance(it, async () => {
  const clock = manualClock();
  const outbox = createMemoryOutbox(clock);
  let lease = { name: "gateway", epoch: 1 };
  return {
    outbox,
    get lease() {
      return lease;
    },
    async takeOver() {
      lease = { ...lease, epoch: lease.epoch + 1 };
      outbox.take(lease);
      return lease;
    },
    advance: clock.advance,
    now: clock.now,
    toldIn: async (conversation) => outbox.toldIn(conversation),
  };
});
