import { strict as assert } from "node:assert";
import { never } from "./bench.ts";
import { type Check, method } from "./check.ts";
import { openDraft, texts, words } from "./steps.ts";

const group = "previews";
const applies: Check["applies"] = ({ capabilities: { stream, preview } }) => {
  if (stream === "none") return "no drafts";
  return preview === undefined ? "drafts are messages" : undefined;
};
/** How long before its end a preview is asked for something. */
const marginMs = 1_000;

/** Drafts that their platform takes away by itself. */
export const previewChecks: readonly Check[] = [
  {
    group,
    name: "shows what is written without a message, which is sent by itself",
    applies,
    async run({ open }) {
      await using bench = await open();
      const { channel, platform } = bench;
      const drafted = method(platform, "drafted");
      const preview = await openDraft(bench);
      await preview.update("one");
      await preview.update("one and");
      assert.deepEqual(drafted(), ["one", "one and"]);
      assert.equal(preview.messageId, undefined, "a preview is no message");
      assert.deepEqual(platform.sent(), []);
      await preview.abort();
      await preview.update("late");
      assert.deepEqual(drafted(), ["one", "one and"]);
      await channel.send(platform.to, words("one and all"), { idempotencyKey: "conf-2", signal: never });
      assert.deepEqual(texts(bench), ["one and all"]);
    },
  },
  {
    group,
    name: "shows it for as long as it claims, and longer where it is prolonged",
    applies: (definition) =>
      applies(definition) ??
      (definition.capabilities.preview?.lifetimeMs === undefined ? "lives until it is finished" : undefined),
    async run({ open, definition }) {
      await using bench = await open();
      const { platform } = bench;
      const { lifetimeMs = 0, prolong } = definition.capabilities.preview ?? {};
      const age = method(platform, "age");
      const drafted = method(platform, "drafted");
      const preview = await openDraft(bench);
      await preview.update("one");
      age(lifetimeMs - marginMs);
      await preview.update("one and");
      if (prolong === true) {
        await method(preview, "prolong")();
        age(lifetimeMs - marginMs);
        await preview.update("one and all");
      }
      const shown = prolong === true ? ["one", "one and", "one and all"] : ["one", "one and"];
      assert.deepEqual(drafted(), shown);
      await preview.abort();
    },
  },
];
