import { strict as assert } from "node:assert";
import { isRetryable } from "../contract/errors.ts";
import { splitText } from "../markdown/split-text.ts";
import { textLength } from "../text.ts";
import { type Check, method, withKeys, withPlatform } from "./check.ts";
import { failing } from "./failing.ts";
import type { Platform } from "./harness.ts";
import { openDraft, texts, words } from "./steps.ts";

const group = "drafts";
const applies: Check["applies"] = ({ capabilities: { stream, preview } }) => {
  if (stream === "none") return "no drafts";
  return preview === undefined ? undefined : "previews, no messages";
};

function drafted<Address>(platform: Platform<Address>): readonly string[] {
  return method(platform, "drafted")();
}

/** A message that grows while it is written. */
export const draftChecks: readonly Check[] = [
  {
    group,
    name: "shows a draft as it grows, and finishes it once",
    applies,
    async run({ open }) {
      await using bench = await open();
      const draft = await openDraft(bench);
      for (const snapshot of ["on", "one", "one and"]) await draft.update(snapshot);
      assert.deepEqual(drafted(bench.platform), ["on", "one", "one and"]);
      const { messageId } = draft;
      assert.ok(messageId !== undefined && messageId !== "", "a draft that is shown has an id");
      const receipt = await draft.finalize(words("one and all"));
      assert.deepEqual(receipt.parts, [{ index: 0, messageId }]);
      assert.deepEqual(texts(bench), ["one and all"]);
      assert.equal((await failing(draft.finalize(words("again")), "a second finalize")).code, "invalid");
      await draft.update("late");
      await draft.abort();
      assert.deepEqual(texts(bench), ["one and all"]);
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
      const seen = drafted(bench.platform).map((text) => snapshots.indexOf(text));
      assert.ok(!seen.includes(-1), "it showed what it was not given");
      assert.deepEqual(
        seen,
        seen.toSorted((a, b) => a - b),
      );
      assert.equal(seen.at(-1), snapshots.length - 1, "the newest text is not shown");
      const late = draft.update("word ".repeat(60).trim());
      await draft.finalize(words("the end"));
      await late;
      assert.deepEqual(texts(bench), ["the end"]);
    },
  },
  {
    group,
    name: "finishes a draft as the first of several parts",
    applies,
    async run({ open }) {
      await using bench = await open();
      const draft = await openDraft(bench);
      await draft.update("one");
      const told: number[] = [];
      const receipt = await draft.finalize(words("one", "two", "three"), {
        idempotencyKey: "conf-2",
        onPart: (part) => void told.push(part.index),
      });
      assert.deepEqual(
        receipt.parts.map((part) => part.index),
        [0, 1, 2],
      );
      assert.deepEqual(told, [0, 1, 2]);
      assert.deepEqual(texts(bench), ["one", "two", "three"]);
      assert.deepEqual(
        receipt.parts.map((part) => part.messageId),
        bench.platform.sent().map((one) => one.messageId),
      );
    },
  },
  {
    group,
    name: "takes a draft back",
    applies,
    async run({ open }) {
      await using bench = await open();
      const draft = await openDraft(bench);
      await draft.update("nev");
      await draft.abort();
      await draft.abort();
      await draft.update("never");
      assert.deepEqual(texts(bench), []);
      const unseen = await openDraft(bench, { idempotencyKey: "conf-2" });
      await unseen.abort();
      assert.deepEqual(texts(bench), []);
    },
  },
  {
    group,
    name: "takes up a draft of an earlier process",
    applies,
    async run({ open, definition }) {
      await using bench = await open();
      const draft = await openDraft(bench);
      await draft.update("one");
      const { messageId } = draft;
      assert.ok(messageId !== undefined);
      const known = await openDraft(bench, { messageId });
      assert.equal(known.messageId, messageId);
      await known.update("one and");
      if (definition.capabilities.delivery.idempotencyKey !== undefined) {
        const again = await openDraft(bench);
        await again.update("one and a");
        assert.equal(again.messageId, messageId, "the same key leads to another message");
      }
      const unseen = await openDraft(bench, { messageId });
      await unseen.finalize(words("one and all"));
      assert.deepEqual(texts(bench), ["one and all"]);
    },
  },
  {
    group,
    name: "finishes in its place a draft that only the key leads to",
    applies: (definition) => applies(definition) ?? withPlatform(definition) ?? withKeys(definition),
    async run({ open }) {
      await using bench = await open();
      const earlier = await openDraft(bench);
      await earlier.update("one");
      const later = await openDraft(bench);
      await later.finalize(words("one and all"));
      assert.deepEqual(texts(bench), ["one and all"]);
    },
  },
  {
    group,
    name: "stays one message when the platform's answer is lost",
    applies: (definition) => applies(definition) ?? withPlatform(definition) ?? withKeys(definition),
    async run({ open }) {
      await using bench = await open();
      const draft = await openDraft(bench);
      method(bench.platform, "fail")("lost-answer");
      assert.equal(
        (await failing(draft.update("one"), "an update without an answer")).code,
        "unknown_outcome",
      );
      assert.equal(bench.platform.sent().length, 1);
      await draft.update("one and");
      assert.deepEqual(texts(bench), ["one and"]);
      await draft.finalize(words("one and all"));
      assert.deepEqual(texts(bench), ["one and all"]);
    },
  },
  {
    group,
    name: "shows of a long text what one message holds, until it is finished",
    applies: (definition) =>
      applies(definition) ?? (definition.capabilities.text.max === undefined ? "no limit" : undefined),
    async run({ open, definition }) {
      const { text } = definition.capabilities;
      const max = text.max ?? 0;
      await using bench = await open();
      const draft = await openDraft(bench);
      const long = "四个字。😀".repeat(Math.ceil((max * 1.5) / textLength("四个字。😀", text.unit)));
      await draft.update(long);
      const [shown = ""] = texts(bench);
      assert.ok(shown.endsWith("…") && long.startsWith(shown.slice(0, -1)), "it is not the text's beginning");
      assert.ok(shown.isWellFormed() && textLength(shown, text.unit) > max / 2);
      const parts = splitText(long, text);
      await draft.finalize(words(...parts));
      assert.deepEqual(texts(bench), parts);
    },
  },
  {
    group,
    name: "says for good that a draft is too old to be changed",
    applies: (definition) =>
      applies(definition) ??
      (definition.capabilities.edit?.windowMs === undefined ? "no edit window" : undefined),
    async run({ open, definition }) {
      await using bench = await open();
      const draft = await openDraft(bench);
      await draft.update("one");
      const age = method(bench.platform, "age");
      age((definition.capabilities.edit?.windowMs ?? 0) + 60_000);
      for (const work of [() => draft.update("one and"), () => draft.finalize(words("one and all"))]) {
        const error = await failing(work(), "a change after the edit window");
        assert.ok(!isRetryable(error), error.code);
      }
      assert.deepEqual(texts(bench), ["one"]);
    },
  },
];
