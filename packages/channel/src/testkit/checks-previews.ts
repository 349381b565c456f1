import { strict as assert } from "node:assert";
import type { Channel } from "../contract/definition.ts";
import type { Draft } from "../contract/messages.ts";
import { never } from "./bench.ts";
import { type Check, needed } from "./check.ts";
import type { Platform } from "./harness.ts";

const group = "previews";
const applies: Check["applies"] = ({ capabilities: { stream, preview } }) => {
  if (stream === "none") return "no drafts";
  return preview === undefined ? "drafts are messages" : undefined;
};
/** How long before its end a preview is asked for something. */
const marginMs = 1_000;

function open<Address>(channel: Channel<Address>, platform: Platform<Address>): Promise<Draft> {
  const openDraft = needed(channel.openDraft?.bind(channel), "openDraft");
  return openDraft(platform.to, { idempotencyKey: "conf-1", signal: never });
}

/** Drafts that their platform takes away by itself. */
export const previewChecks: readonly Check[] = [
  {
    group,
    name: "shows what is written without a message, which is sent by itself",
    applies,
    async run({ open: openBench }) {
      await using bench = await openBench();
      const { channel, platform } = bench;
      const drafted = needed(platform.drafted?.bind(platform), "drafted");
      const preview = await open(channel, platform);
      await preview.update("one");
      await preview.update("one and");
      assert.deepEqual(drafted(), ["one", "one and"]);
      assert.equal(preview.messageId, undefined, "a preview is no message");
      assert.deepEqual(platform.sent(), []);
      await preview.abort();
      await preview.update("late");
      assert.deepEqual(drafted(), ["one", "one and"]);
      const whole = { parts: [{ type: "text", text: "one and all" }] } as const;
      await channel.send(platform.to, whole, { idempotencyKey: "conf-2", signal: never });
      assert.deepEqual(
        platform.sent().map(({ text }) => text),
        ["one and all"],
      );
    },
  },
  {
    group,
    name: "shows it for as long as it claims, and longer where it is prolonged",
    applies: (definition) =>
      applies(definition) ??
      (definition.capabilities.preview?.lifetimeMs === undefined ? "lives until it is finished" : undefined),
    async run({ open: openBench, definition }) {
      await using bench = await openBench();
      const { channel, platform } = bench;
      const { lifetimeMs = 0, prolong } = definition.capabilities.preview ?? {};
      const age = needed(platform.age?.bind(platform), "age");
      const drafted = needed(platform.drafted?.bind(platform), "drafted");
      const preview = await open(channel, platform);
      await preview.update("one");
      age(lifetimeMs - marginMs);
      await preview.update("one and");
      if (prolong === true) {
        await needed(preview.prolong?.bind(preview), "prolong")();
        age(lifetimeMs - marginMs);
        await preview.update("one and all");
      }
      const shown = prolong === true ? ["one", "one and", "one and all"] : ["one", "one and"];
      assert.deepEqual(drafted(), shown);
      await preview.abort();
    },
  },
];
