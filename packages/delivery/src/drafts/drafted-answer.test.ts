import type { Capabilities } from "@signalbox/channel";
import { plainMessage } from "@signalbox/channel/testkit";
import { expect, it } from "vitest";
import { createRunId, openOutbox } from "../../test/open-outbox.ts";
import { KEYED, plainAccount, silentLogger } from "../../test/plain.ts";
import { createFinalReply } from "../final-reply.ts";
import type { DeliveryMessage } from "../outbox.ts";
import { createDrafts, type Drafts, type DraftsOptions } from "./drafts.ts";

const runId = createRunId();
const ABOVE = "I will list the files.";
const BELOW = "There are three files.";
const ALL = `${ABOVE}\n\n${BELOW}`;

interface Bench {
  readonly drafts: Drafts;
  /** Sets the text of the run, then advances the clock by a second. */
  write(text: string): Promise<void>;
  /** What the outbox has, in order, with the key of the draft that becomes the message. */
  rows(): Promise<readonly (readonly [text: string, draft: string | undefined])[]>;
  /** Creates the final reply. */
  finish(text: string, stopped?: string): Promise<DeliveryMessage | undefined>;
  /** Starts another process with the same store, which resumes the run. */
  restart(): Promise<Bench>;
}

interface Options {
  readonly capabilities?: Capabilities;
  /** The outbox of the first process. Default: the store's. */
  readonly enqueue?: DraftsOptions["enqueue"];
}

async function open({ capabilities = KEYED, enqueue: enqueueFirst }: Options = {}) {
  const { outbox, notes, clock, lease, failOnce, markSent } = await openOutbox();
  const shown: string[] = [];
  const keys: string[] = [];
  const account = plainAccount(
    {
      async openDraft(_to, { idempotencyKey, replyTo, messageId: existing }) {
        const number = existing?.slice("om_".length) ?? keys.push(idempotencyKey);
        const messageId = capabilities.preview === undefined ? `om_${number}` : undefined;
        return {
          messageId,
          update: async (text) => void shown.push(`${number} to ${replyTo}: ${text}`),
          finalize: () => Promise.reject(new Error("the outbox does this")),
          abort: async () => void shown.push(`${number} gone`),
        };
      },
    },
    { capabilities },
  );

  const add: DraftsOptions["enqueue"] = (_, row) => outbox.enqueue([row], { lease });

  function start(enqueue = add): Bench {
    const drafts = createDrafts({
      notes,
      hasOpen: (destination) => outbox.hasOpen(destination),
      account: () => account,
      capabilities: () => capabilities,
      mayShow: () => true,
      stream: () => "draft",
      enqueue,
      deliver: () => {},
      logger: silentLogger,
      clock,
    });
    let text = "";
    let written: (() => void) | undefined;
    return {
      drafts,
      async write(now) {
        text = now;
        const signal = new AbortController().signal;
        const run = { runId, event: plainMessage(), signal, visible: () => text, standing: () => text };
        written ??= drafts.watch(run);
        written?.();
        await clock.advance(1_000);
      },
      async rows() {
        const rows = await outbox.list({ states: ["pending", "sending", "sent"] });
        return rows.toReversed().map(({ payload }) => {
          const [part] = payload.parts;
          return [part !== undefined && "text" in part ? part.text : "", payload.draft?.messageId] as const;
        });
      },
      async finish(reply, stopped) {
        const draft = await drafts.end(runId);
        const shownAnswer = { draft, blocks: [] };
        return createFinalReply({
          ...{ text: reply, silent: false, stopped, shown: shownAnswer, replyTo: "m", capabilities },
        });
      },
      async restart() {
        const next = start();
        await next.drafts.recall(runId);
        return next;
      },
    };
  }
  return { ...start(enqueueFirst), shown, keys, clock, notes, failOnce, markSent };
}

it("continues in a new message below a question, and the reply has only the rest", async () => {
  const bench = await open();
  await bench.write(ABOVE);
  await bench.drafts.startNewMessage(runId);
  expect(await bench.rows()).toEqual([[ABOVE, "om_1"]]);
  await bench.markSent("om_1");
  await bench.write(ALL);
  expect(bench.shown).toEqual([`1 to m: ${ABOVE}`, `2 to m: ${BELOW}`]);
  expect(new Set(bench.keys).size).toBe(2);
  expect(await bench.finish(ALL)).toMatchObject({
    parts: [{ text: BELOW }],
    draft: { messageId: "om_2", key: bench.keys[1] },
    replyTo: "m",
  });
  bench.drafts.complete(runId);
  await bench.clock.settle();
  expect(await bench.notes.list("draft")).toEqual([]);
});

it("does not open the new message before everything above it has been sent", async () => {
  const bench = await open();
  await bench.write(ABOVE);
  await bench.drafts.startNewMessage(runId);
  await bench.write(ALL);
  expect(bench.shown).toEqual([`1 to m: ${ABOVE}`]);
  await bench.markSent("om_1");
  await bench.clock.advance(1_000);
  expect(bench.shown).toEqual([`1 to m: ${ABOVE}`, `2 to m: ${BELOW}`]);
});

it("also completes text above the question that was too young for a draft", async () => {
  const bench = await open();
  const signal = new AbortController().signal;
  bench.drafts.watch({
    runId,
    event: plainMessage(),
    signal,
    visible: () => ABOVE,
    standing: () => ABOVE,
  })?.();
  await bench.drafts.startNewMessage(runId);
  expect(await bench.rows()).toEqual([[ABOVE, undefined]]);
  expect(bench.shown).toEqual([]);
});

it("sends nothing if nothing was written before the question", async () => {
  const bench = await open();
  await bench.write("");
  await bench.drafts.startNewMessage(runId);
  await bench.drafts.startNewMessage(runId);
  expect(await bench.rows()).toEqual([]);
  await bench.write(BELOW);
  expect(bench.shown).toEqual([`1 to m: ${BELOW}`]);
  expect(await bench.finish(BELOW)).toMatchObject({ parts: [{ text: BELOW }], draft: { messageId: "om_1" } });
});

it("sends the text of a preview as a message, because the preview disappears", async () => {
  const bench = await open({ capabilities: { ...KEYED, preview: {} } });
  await bench.write(ABOVE);
  await bench.drafts.startNewMessage(runId);
  expect(bench.shown).toEqual([`1 to m: ${ABOVE}`, "1 gone"]);
  expect(await bench.rows()).toEqual([[ABOVE, undefined]]);
});

it("removes a draft whose text was sent by the message tool", async () => {
  const bench = await open();
  await bench.write(ABOVE);
  let text = ABOVE;
  const signal = new AbortController().signal;
  bench.drafts.watch({ runId, event: plainMessage(), signal, visible: () => text, standing: () => text });
  text = "";
  await bench.drafts.startNewMessage(runId);
  expect(await bench.rows()).toEqual([["", "om_1"]]);
});

it("a resumed run finds both messages, and repeats neither", async () => {
  const bench = await open();
  await bench.write(ABOVE);
  await bench.drafts.startNewMessage(runId);
  await bench.markSent("om_1");
  await bench.write(ALL);
  const next = await bench.restart();
  expect(next.drafts.isShown(runId)).toBe(true);
  await next.write(ALL);
  expect(await next.finish(ALL)).toMatchObject({ parts: [{ text: BELOW }], draft: { messageId: "om_2" } });
  expect(await next.rows()).toEqual([[ABOVE, "om_1"]]);
});

it("goes on in the same message if the new one could not be noted", async () => {
  const bench = await open();
  await bench.write(ABOVE);
  bench.failOnce(new Error("disk full"));
  await expect(bench.drafts.startNewMessage(runId)).rejects.toThrow("disk full");
  await bench.write(ALL);
  expect(bench.shown).toEqual([`1 to m: ${ABOVE}`, `1 to m: ${ALL}`]);
  expect(await bench.finish(ALL)).toMatchObject({ parts: [{ text: ALL }], draft: { messageId: "om_1" } });
  expect(await bench.rows()).toEqual([]);
});

it("a resumed run adds a noted message that the outbox lacks, once", async () => {
  const bench = await open({ enqueue: () => Promise.reject(new Error("the process died")) });
  await bench.write(ABOVE);
  await expect(bench.drafts.startNewMessage(runId)).rejects.toThrow("the process died");
  expect(await bench.rows()).toEqual([]);
  const next = await bench.restart();
  await next.write(ABOVE);
  await next.drafts.startNewMessage(runId);
  await next.drafts.startNewMessage(runId);
  expect(await next.rows()).toEqual([[ABOVE, "om_1"]]);
  expect(await next.finish(ALL)).toMatchObject({ parts: [{ text: BELOW }] });
});

it("marks only the last message of a stopped answer", async () => {
  const bench = await open();
  await bench.write(ABOVE);
  await bench.drafts.startNewMessage(runId);
  await bench.markSent("om_1");
  expect(await bench.finish("", "(stopped)")).toMatchObject({ parts: [{ text: "(stopped)" }] });
  await bench.drafts.recall(runId);
  await bench.write(ALL);
  expect(await bench.finish("", "(stopped)")).toMatchObject({
    parts: [{ text: `${BELOW}\n\n(stopped)` }],
    draft: { messageId: "om_2" },
  });
});
