import type { ChannelDefinition } from "../contract/definition.ts";
import { referenceKinds } from "../contract/events.ts";
import { account } from "./bench.ts";
import { type Check, required } from "./check.ts";
import { checkEvent } from "./check-event.ts";
import { expectEqual, expectThat } from "./expect.ts";
import type { Delivery, ReferencedMessage } from "./harness.ts";

function requiresThreads({ capabilities }: ChannelDefinition): string | undefined {
  return capabilities.threads === "native" ? undefined : "no threads";
}

/** Checks of the messages that a message refers to. */
export const referenceChecks: readonly Check[] = [
  {
    group: "references",
    name: "passes on what a message refers to, apart from the message's own text and media",
    applies: requiresThreads,
    async run({ open, definition }) {
      await using bench = await open();
      const refer = required(bench.platform.refer, "refer");
      for (const kind of referenceKinds) {
        const deliver = refer[kind];
        if (deliver === undefined) continue;
        const what = `The ${kind} reference`;
        const about: ReferencedMessage = {
          messageId: `about-${kind}`,
          text: `The harbour is closed (${kind}).`,
        };
        const delivery: Delivery = {
          eventId: `event-${kind}`,
          messageId: `message-${kind}`,
          text: "Is that right?",
          from: "person",
        };
        const { isDigest = false, ...acknowledged } = await deliver(bench.channel, delivery, about);
        expectThat(
          acknowledged.isAcknowledged,
          `The channel must acknowledge a message with a ${kind} reference`,
        );
        const event = bench.events.at(-1);
        expectEqual(event?.type, "message", `A message with a ${kind} reference must cause a message event`);
        if (event?.type !== "message") continue;
        expectEqual(
          checkEvent(event, { channel: definition.id, account }),
          [],
          `The event with a ${kind} reference violates the contract`,
        );
        const reference = event.references?.find((one) => one.kind === kind);
        if (reference === undefined)
          throw new Error(`${what} is missing in the event of a message that has one.`);
        expectThat(
          reference.text?.includes(about.text) === true,
          `${what} must contain the text of the message that it refers to`,
        );
        expectThat(
          !event.text.includes(about.text),
          `${what} must not put the text of another message into the message's own text`,
        );
        expectEqual(
          event.media,
          [],
          `${what} must not put the media of another message into the message's own media`,
        );
        if (isDigest) continue;
        expectThat(
          (reference.sender?.id ?? reference.sender?.name) !== undefined,
          `${what} must name the author of the message that it refers to`,
        );
        if (definition.capabilities.media !== undefined)
          expectThat(
            (reference.media ?? []).length > 0,
            `${what} must contain the media of the message that it refers to`,
          );
      }
    },
  },
];
