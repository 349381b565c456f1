import { ChannelError, type Draft } from "../src/index.ts";
import { type Previews, previewing } from "./echo-preview.ts";
import { another, drafts, type Fault, opened, running } from "./planting.ts";

/** Plants a fault in a channel whose drafts are previews. */
const previews =
  (change: Partial<Previews>): Fault["plant"] =>
  () =>
    previewing(change);

/** Faults in drafts and previews. */
export const faultsWithDrafts: readonly Fault[] = [
  {
    fault: "shows drafts only when they are finished",
    check: "drafts: shows a draft as it grows and finalizes it once",
    plant: drafts(() => ({ update: async () => {} })),
  },
  {
    fault: "shows older texts after newer ones",
    check: "drafts: never shows an older text after a newer one",
    plant: drafts(({ update }) => {
      let last = "";
      return {
        update: async (text: string) => {
          const older = last;
          last = text;
          await update(text);
          if (older !== "") await update(older);
        },
      };
    }),
  },
  {
    fault: "drops the parts after the draft",
    check: "drafts: finalizes a draft as the first of several parts",
    plant: drafts(({ finalize }) => ({
      finalize: ({ parts }, how) => finalize({ parts: parts.slice(0, 1) }, how),
    })),
  },
  {
    fault: "does not remove aborted drafts",
    check: "drafts: removes an aborted draft",
    plant: drafts(() => ({ abort: async () => {} })),
  },
  {
    fault: "leaves the text of aborted drafts, although it cannot remove messages",
    check: "drafts: removes an aborted draft",
    plant: (echo) => ({
      ...drafts(() => ({ abort: async () => {} }))(echo),
      capabilities: { ...echo.capabilities, remove: false },
    }),
  },
  {
    fault: "cannot continue an earlier draft",
    check: "drafts: continues a draft of an earlier process",
    plant: running((channel) => ({
      openDraft: (to, { messageId: _forgotten, ...options }) =>
        opened(channel, to, { ...options, idempotencyKey: another() }),
    })),
  },
  {
    fault: "creates a second message for the same key",
    check: "drafts: finalizes in place a draft that is known only by its key",
    plant: running((channel) => ({
      openDraft: (to, options) => opened(channel, to, { ...options, idempotencyKey: another() }),
    })),
  },
  {
    fault: "creates a second draft after a lost response",
    check: "drafts: creates only one message if the response is lost",
    plant: running((channel) => ({
      openDraft: async (to, options) => {
        let draft = await opened(channel, to, options);
        const update = async (text: string): Promise<void> => {
          await draft.update(text).catch(async (error: unknown) => {
            draft = await opened(channel, to, { ...options, idempotencyKey: another() });
            throw error;
          });
        };
        return Object.defineProperties(
          {
            update,
            finalize: (...args: Parameters<Draft["finalize"]>) => draft.finalize(...args),
            abort: () => draft.abort(),
          },
          { messageId: { get: () => draft.messageId } },
        ) as Draft;
      },
    })),
  },
  {
    fault: "shows only a few characters of a long draft",
    check: "drafts: truncates a long draft until it is finalized",
    plant: drafts(({ update }) => ({ update: (text) => update(text.slice(0, 10)) })),
  },
  {
    fault: "reports an expired draft as retryable",
    check: "drafts: reports a draft past its edit window as not retryable",
    plant: drafts(({ update }) => ({
      update: (text) =>
        update(text).catch((error: unknown) => {
          throw new ChannelError("transient", String(error));
        }),
    })),
  },
  {
    fault: "creates a message for a preview",
    check: "previews: shows a preview without creating a message",
    plant: (echo) => ({ ...echo, capabilities: { ...echo.capabilities, preview: {} } }),
  },
  {
    fault: "shows a preview after abort",
    check: "previews: shows a preview without creating a message",
    plant: previews({ staysAfterAbort: true }),
  },
  {
    fault: "removes a preview before the end of its lifetime",
    check: "previews: keeps a preview for its lifetime, and longer if prolonged",
    plant: previews({ lifetimeMs: 5_000 }),
  },
  {
    fault: "does not prolong previews",
    check: "previews: keeps a preview for its lifetime, and longer if prolonged",
    plant: previews({ ignoresProlong: true }),
  },
];
