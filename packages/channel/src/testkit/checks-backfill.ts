import type { ChannelDefinition } from "../contract/definition.ts";
import { createInMemoryState } from "../host/in-memory.ts";
import { eventually } from "./bench.ts";
import { type Check, method, requiresPlatform } from "./check.ts";
import { expectEqual, expectThat } from "./expect.ts";
import type { Delivery } from "./harness.ts";

function createDelivery(number: number): Delivery {
  return {
    eventId: `event-${number}`,
    messageId: `message-${number}`,
    text: `word ${number}`,
    from: "person",
  };
}

/** A platform without history and connections must redeliver messages that it could not deliver. */
function requiresBackfill({ capabilities }: ChannelDefinition): string | undefined {
  const { history, transports } = capabilities;
  if (history === true || transports.some((transport) => transport !== "webhook")) return undefined;
  return "the platform redelivers";
}

/** Checks of messages that arrive while the channel is offline. */
export const backfillChecks: readonly Check[] = [
  {
    group: "backfill",
    name: "delivers messages missed while offline, in order and once",
    applies: (definition) => requiresPlatform(definition) ?? requiresBackfill(definition),
    async run({ open, waitMs }) {
      const state = createInMemoryState();
      await using before = await open({ context: { state } });
      const { platform } = before;
      expectThat(
        await platform.deliver(before.channel, createDelivery(1)),
        "The channel must acknowledge a message",
      );
      await before.channel.stop({ drainMs: 1_000 });
      const miss = method(platform, "miss");
      for (const number of [2, 3]) await miss(createDelivery(number));
      await using after = await open({ platform, context: { state } });
      const texts = () => after.events.flatMap((event) => (event.type === "message" ? [event.text] : []));
      await eventually(
        () => texts().includes("word 3"),
        "A message that was written while the channel was offline must be emitted after the next start",
        waitMs,
      );
      // The first message may be emitted again, because the host recognizes duplicates.
      const missed = () => texts().filter((text) => text !== "word 1");
      expectEqual(missed(), ["word 2", "word 3"], "Missed messages must be emitted once and in order");
      expectThat(
        await after.platform.deliver(after.channel, createDelivery(3)),
        "The channel must acknowledge a late delivery of a message that it has already read",
      );
      expectEqual(
        missed(),
        ["word 2", "word 3"],
        "A late delivery of a message that was already read must have the same event or message id",
      );
    },
  },
];
