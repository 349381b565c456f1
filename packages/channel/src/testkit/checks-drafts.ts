import { isRetryable } from "../contract/errors.ts";
import { splitText } from "../markdown/split-text.ts";
import { textLength } from "../text.ts";
import { type Check, method, requiresDraftKeys, requiresPlatform } from "./check.ts";
import { expectChannelError, expectEqual, expectThat } from "./expect.ts";
import type { Platform } from "./harness.ts";
import { message, openDraft, sentTexts } from "./steps.ts";

const group = "drafts";
const applies: Check["applies"] = ({ capabilities: { stream, preview } }) => {
  if (stream === "none") return "no drafts";
  return preview === undefined ? undefined : "drafts are previews";
};
const appliesWithKeys: Check["applies"] = (definition) =>
  applies(definition) ?? requiresPlatform(definition) ?? requiresDraftKeys(definition);

function getDraftedTexts<Address>(platform: Platform<Address>): readonly string[] {
  return method(platform, "drafted")();
}

/** Checks of messages that grow while the model is writing. */
export const draftChecks: readonly Check[] = [
  {
    group,
    name: "shows a draft as it grows and finalizes it once",
    applies,
    async run({ open }) {
      await using bench = await open();
      const draft = await openDraft(bench);
      for (const snapshot of ["on", "one", "one and"]) await draft.update(snapshot);
      expectEqual(
        getDraftedTexts(bench.platform),
        ["on", "one", "one and"],
        "The draft must show every text",
      );
      const { messageId } = draft;
      expectThat(
        messageId !== undefined && messageId !== "",
        "A draft must have a message id after an update",
      );
      const receipt = await draft.finalize(message("one and all"));
      expectEqual(
        receipt.parts,
        [{ index: 0, messageId }],
        "The receipt of finalize must contain the draft's message as part 0",
      );
      expectEqual(
        sentTexts(bench),
        ["one and all"],
        "finalize must turn the draft's message into the finished message",
      );
      await expectChannelError(draft.finalize(message("again")), "A second call of finalize", "invalid");
      await draft.update("late");
      await draft.abort();
      expectEqual(sentTexts(bench), ["one and all"], "update and abort must do nothing after finalize");
    },
  },
  {
    group,
    name: "never shows an older text after a newer one",
    applies,
    async run({ open }) {
      await using bench = await open();
      const draft = await openDraft(bench);
      const snapshots = Array.from({ length: 40 }, (_, index) => "word ".repeat(index + 1).trim());
      await Promise.all(snapshots.map((snapshot) => draft.update(snapshot)));
      const shown = getDraftedTexts(bench.platform).map((text) => snapshots.indexOf(text));
      expectThat(!shown.includes(-1), "The draft must show only texts that were passed to update");
      expectEqual(
        shown,
        shown.toSorted((a, b) => a - b),
        "Concurrent updates must be shown in order (numbers of the updates)",
      );
      expectEqual(shown.at(-1), snapshots.length - 1, "The last update must be shown");
      const late = draft.update("word ".repeat(60).trim());
      await draft.finalize(message("the end"));
      await late;
      expectEqual(sentTexts(bench), ["the end"], "An update must not replace the finished message");
    },
  },
  {
    group,
    name: "finalizes a draft as the first of several parts",
    applies,
    async run({ open }) {
      await using bench = await open();
      const draft = await openDraft(bench);
      await draft.update("one");
      const reported: number[] = [];
      const receipt = await draft.finalize(message("one", "two", "three"), {
        idempotencyKey: "conf-2",
        onPart: (part) => void reported.push(part.index),
      });
      expectEqual(
        receipt.parts.map((part) => part.index),
        [0, 1, 2],
        "The receipt of finalize must list every part in order",
      );
      expectEqual(reported, [0, 1, 2], "onPart must be called for every part in order");
      expectEqual(
        sentTexts(bench),
        ["one", "two", "three"],
        "The platform must have every part once, in order",
      );
      expectEqual(
        receipt.parts.map((part) => part.messageId),
        bench.platform.sent().map((one) => one.messageId),
        "The receipt of finalize must contain the platform's message ids",
      );
    },
  },
  {
    group,
    name: "removes an aborted draft",
    applies,
    async run({ open, definition: { capabilities } }) {
      await using bench = await open();
      const draft = await openDraft(bench);
      await draft.update("nev");
      await draft.abort();
      await draft.abort();
      await draft.update("never");
      const shown = sentTexts(bench);
      if (capabilities.remove === true)
        expectEqual(shown, [], "abort must remove the draft's message, and later updates do nothing");
      // On some platforms, nobody can remove a message.
      expectThat(
        !shown.some((text) => text.includes("nev")),
        "After abort, no message may contain the text of the draft, and later updates do nothing",
      );
      const unshown = await openDraft(bench, { idempotencyKey: "conf-2" });
      await unshown.abort();
      expectEqual(sentTexts(bench), shown, "abort before the first update must not create a message");
    },
  },
  {
    group,
    name: "continues a draft of an earlier process",
    applies,
    async run({ open, definition }) {
      await using bench = await open();
      const draft = await openDraft(bench);
      await draft.update("one");
      const { messageId } = draft;
      expectThat(messageId !== undefined, "A draft must have a message id after an update");
      const continued = await openDraft(bench, { messageId });
      expectEqual(
        continued.messageId,
        messageId,
        "A draft that is opened with a message id must have this id",
      );
      await continued.update("one and");
      if (requiresDraftKeys(definition) === undefined) {
        const again = await openDraft(bench);
        await again.update("one and a");
        expectEqual(
          again.messageId,
          messageId,
          "A draft that is opened again with the same idempotency key must be the same message",
        );
      }
      const unshown = await openDraft(bench, { messageId });
      await unshown.finalize(message("one and all"));
      expectEqual(
        sentTexts(bench),
        ["one and all"],
        "A draft that continues an earlier one must finalize the same message",
      );
    },
  },
  {
    group,
    name: "finalizes in place a draft that is known only by its key",
    applies: appliesWithKeys,
    async run({ open }) {
      await using bench = await open();
      const earlier = await openDraft(bench);
      await earlier.update("one");
      const later = await openDraft(bench);
      await later.finalize(message("one and all"));
      expectEqual(
        sentTexts(bench),
        ["one and all"],
        "A draft that is opened again with the same key must finalize the existing message",
      );
    },
  },
  {
    group,
    name: "creates only one message if the response is lost",
    applies: appliesWithKeys,
    async run({ open }) {
      await using bench = await open();
      const draft = await openDraft(bench);
      method(bench.platform, "fail")("lost_response");
      await expectChannelError(draft.update("one"), "An update whose response is lost", "unknown_outcome");
      expectEqual(bench.platform.sent().length, 1, "The first update must create one message");
      await draft.update("one and");
      expectEqual(
        sentTexts(bench),
        ["one and"],
        "The update after a lost response must change the existing message",
      );
      await draft.finalize(message("one and all"));
      expectEqual(
        sentTexts(bench),
        ["one and all"],
        "finalize after a lost response must change the existing message",
      );
    },
  },
  {
    group,
    name: "truncates a long draft until it is finalized",
    applies: (definition) =>
      applies(definition) ?? (definition.capabilities.text.max === undefined ? "no limit" : undefined),
    async run({ open, definition }) {
      const { text } = definition.capabilities;
      const max = text.max ?? 0;
      await using bench = await open();
      const draft = await openDraft(bench);
      const long = "四个字。😀".repeat(Math.ceil((max * 1.5) / textLength("四个字。😀", text.unit)));
      await draft.update(long);
      const [shown = ""] = sentTexts(bench);
      expectThat(
        shown.endsWith("…") && long.startsWith(shown.slice(0, -1)),
        "A draft that is too long must show the start of the text with an ellipsis",
      );
      expectThat(shown.isWellFormed(), "A truncated draft must not end within a surrogate pair");
      const length = textLength(shown, text.unit);
      expectThat(
        length > max / 2,
        `A truncated draft shows only ${length} of ${max} ${text.unit}; it must show more than half`,
      );
      const parts = splitText(long, text);
      await draft.finalize(message(...parts));
      expectEqual(sentTexts(bench), parts, "finalize must send the whole text in parts");
    },
  },
  {
    group,
    name: "reports a draft past its edit window as not retryable",
    applies: (definition) =>
      applies(definition) ??
      (definition.capabilities.edit?.windowMs === undefined ? "no edit window" : undefined),
    async run({ open, definition }) {
      await using bench = await open();
      const draft = await openDraft(bench);
      await draft.update("one");
      const age = method(bench.platform, "age");
      age((definition.capabilities.edit?.windowMs ?? 0) + 60_000);
      for (const [what, work] of [
        ["update", () => draft.update("one and")],
        ["finalize", () => draft.finalize(message("one and all"))],
      ] as const) {
        const error = await expectChannelError(work(), `${what} after the edit window`);
        expectThat(
          !isRetryable(error),
          `${what} after the edit window failed with "${error.code}", so it would be retried`,
        );
      }
      expectEqual(sentTexts(bench), ["one"], "A draft must not change after the edit window");
    },
  },
];
