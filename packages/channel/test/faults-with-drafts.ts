import { ChannelError, type Draft } from "../src/index.ts";
import { type Previews, previewing } from "./echo-preview.ts";
import { another, drafts, type Fault, opened, running } from "./planting.ts";

/** A channel whose drafts are previews, which are not as it says. */
const previews =
  (change: Partial<Previews>): Fault["plant"] =>
  () =>
    previewing(change);

/** What can be wrong with what grows while it is written. */
export const faultsWithDrafts: readonly Fault[] = [
  {
    fault: "shows nothing before the end",
    check: "drafts: shows a draft as it grows, and finishes it once",
    plant: drafts(() => ({ update: async () => {} })),
  },
  {
    fault: "carries changes out in any order",
    check: "drafts: never shows an older text after a newer one",
    plant: running((channel) => ({
      openDraft: async (to, options) => {
        const draft = await opened(channel, to, options);
        let last = "";
        return Object.defineProperties(
          {
            ...draft,
            update: async (text: string) => {
              const older = last;
              last = text;
              await draft.update(text);
              if (older !== "") await draft.update(older);
            },
          },
          { messageId: { get: () => draft.messageId } },
        );
      },
    })),
  },
  {
    fault: "forgets the parts behind a draft",
    check: "drafts: finishes a draft as the first of several parts",
    plant: drafts(({ finalize }) => ({
      finalize: ({ parts }, how) => finalize({ parts: parts.slice(0, 1) }, how),
    })),
  },
  {
    fault: "leaves what was taken back",
    check: "drafts: takes a draft back",
    plant: drafts(() => ({ abort: async () => {} })),
  },
  {
    fault: "knows no earlier drafts",
    check: "drafts: takes up a draft of an earlier process",
    plant: running((channel) => ({
      openDraft: (to, { messageId: _forgotten, ...options }) =>
        opened(channel, to, { ...options, idempotencyKey: another() }),
    })),
  },
  {
    fault: "finishes a draft of the same key beside it",
    check: "drafts: finishes in its place a draft that only the key leads to",
    plant: running((channel) => ({
      openDraft: (to, options) => opened(channel, to, { ...options, idempotencyKey: another() }),
    })),
  },
  {
    fault: "begins a second draft when an answer is lost",
    check: "drafts: stays one message when the platform's answer is lost",
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
    fault: "shows only the beginning of a long text, for good",
    check: "drafts: shows of a long text what one message holds, until it is finished",
    plant: drafts(({ update }) => ({ update: (text) => update(text.slice(0, 10)) })),
  },
  {
    fault: "hopes that an old draft can be changed later",
    check: "drafts: says for good that a draft is too old to be changed",
    plant: drafts(({ update }) => ({
      update: (text) =>
        update(text).catch((error: unknown) => {
          throw new ChannelError("transient", String(error));
        }),
    })),
  },
  {
    fault: "makes a message of what it says is a preview",
    check: "previews: shows what is written without a message, which is sent by itself",
    plant: (sound) => ({ ...sound, capabilities: { ...sound.capabilities, preview: {} } }),
  },
  {
    fault: "goes on showing a preview that was taken away",
    check: "previews: shows what is written without a message, which is sent by itself",
    plant: previews({ staysAfterAbort: true }),
  },
  {
    fault: "shows a preview for a shorter time than it says",
    check: "previews: shows it for as long as it claims, and longer where it is prolonged",
    plant: previews({ livesMs: 5_000 }),
  },
  {
    fault: "does not prolong its previews",
    check: "previews: shows it for as long as it claims, and longer where it is prolonged",
    plant: previews({ ignoresProlong: true }),
  },
];
