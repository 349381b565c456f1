import { strict as assert } from "node:assert";
import type { ChannelDefinition } from "../contract/definition.ts";
import { createInMemoryState } from "../host/in-memory.ts";
import { eventually } from "./bench.ts";
import { type Check, method, withPlatform } from "./check.ts";
import type { Delivery } from "./harness.ts";

const group = "coming back";

function said(number: number): Delivery {
  return {
    eventId: `event-${number}`,
    messageId: `message-${number}`,
    text: `word ${number}`,
    from: "person",
  };
}

/** Where nothing can be read back, the platform has to keep what it could not deliver. */
function withRedelivery({ capabilities }: ChannelDefinition): string | undefined {
  const { history, transports } = capabilities;
  if (history === true || transports.some((transport) => transport !== "webhook")) return undefined;
  return "the platform delivers again";
}

/** What a channel hears of the time in which it was not there. */
export const backfillChecks: readonly Check[] = [
  {
    group,
    name: "hands over what was said while its process was away, in order and once",
    applies: (definition) => withPlatform(definition) ?? withRedelivery(definition),
    async run({ open, waitMs }) {
      const state = createInMemoryState();
      await using before = await open({ context: { state } });
      const { platform } = before;
      assert.equal(await platform.deliver(before.channel, said(1)), true);
      await before.channel.stop({ drainMs: 1_000 });
      const miss = method(platform, "miss");
      for (const number of [2, 3]) await miss(said(number));
      await using after = await open({ platform, context: { state } });
      const texts = () => after.events.flatMap((event) => (event.type === "message" ? [event.text] : []));
      await eventually(() => texts().includes("word 3"), "what was missed is handed over", waitMs);
      // The first may come again: the host that took it knows it.
      const missed = () => texts().filter((text) => text !== "word 1");
      assert.deepEqual(missed(), ["word 2", "word 3"]);
      assert.equal(
        await platform.deliver(after.channel, said(3)),
        true,
        "delivered late, it is acknowledged",
      );
      assert.deepEqual(missed(), ["word 2", "word 3"], "delivered late, it is no second message");
    },
  },
];
