import { never } from "./bench.ts";
import { type Check, method } from "./check.ts";
import { expectEqual } from "./expect.ts";
import { message, openDraft, sentTexts } from "./steps.ts";

const group = "previews";
const applies: Check["applies"] = ({ capabilities: { stream, preview } }) => {
  if (stream === "none") return "no drafts";
  return preview === undefined ? "drafts are messages" : undefined;
};
/** Time before the end of a preview at which the checks use it, in milliseconds. */
const MARGIN_MS = 1_000;

/** Checks of drafts that are previews. */
export const previewChecks: readonly Check[] = [
  {
    group,
    name: "shows a preview without creating a message",
    applies,
    async run({ open }) {
      await using bench = await open();
      const { channel, platform } = bench;
      const drafted = method(platform, "drafted");
      const preview = await openDraft(bench);
      await preview.update("one");
      await preview.update("one and");
      expectEqual(drafted(), ["one", "one and"], "The preview must show every text");
      expectEqual(preview.messageId, undefined, "A preview must have no message id");
      expectEqual(platform.sent(), [], "A preview must not be a message");
      await preview.abort();
      await preview.update("late");
      expectEqual(drafted(), ["one", "one and"], "A preview must show nothing after abort");
      await channel.send(platform.to, message("one and all"), { idempotencyKey: "conf-2", signal: never });
      expectEqual(sentTexts(bench), ["one and all"], "The answer must be sent as a separate message");
    },
  },
  {
    group,
    name: "keeps a preview for its lifetime, and longer if prolonged",
    applies: (definition) =>
      applies(definition) ??
      (definition.capabilities.preview?.lifetimeMs === undefined ? "no lifetime" : undefined),
    async run({ open, definition }) {
      await using bench = await open();
      const { platform } = bench;
      const { lifetimeMs = 0, prolong } = definition.capabilities.preview ?? {};
      const age = method(platform, "age");
      const drafted = method(platform, "drafted");
      const preview = await openDraft(bench);
      await preview.update("one");
      age(lifetimeMs - MARGIN_MS);
      await preview.update("one and");
      expectEqual(drafted(), ["one", "one and"], "A preview must show texts until the end of its lifetime");
      if (prolong === true) {
        await method(preview, "prolong")();
        age(lifetimeMs - MARGIN_MS);
        await preview.update("one and all");
        expectEqual(
          drafted(),
          ["one", "one and", "one and all"],
          "A prolonged preview must show texts for another lifetime",
        );
      }
      await preview.abort();
    },
  },
];
