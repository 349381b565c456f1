import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Home } from "@signalbox/home";
import { z } from "zod";
import type { Answers } from "./channel-questions.ts";

const SavedAnswers = z.object({
  /** Steps that were completed. */
  steps: z.array(z.string()).default([]),
  /** The account whose questions were interrupted. */
  account: z
    .object({
      channel: z.string(),
      account: z.string(),
      answers: z.record(z.string(), z.union([z.string(), z.boolean()])),
    })
    .optional(),
});

/** The progress of an interrupted setup. The file contains secrets and is readable only by its owner. */
export interface SavedAnswers {
  readonly steps: readonly string[];
  /** Returns the answers about an account. */
  of(channel: string, account: string): Answers;
  /** The channel whose questions were interrupted, if any. */
  readonly channel: string | undefined;
  complete(step: string): void;
  keep(channel: string, account: string, answers: Answers): void;
  clearAccount(): void;
  /** Call this at the end of the setup. */
  clear(): void;
}

/** Reads the answers of an interrupted setup. */
export function readSavedAnswers(home: Home): SavedAnswers {
  const file = join(home.dir, "secrets", "init-answers.json");
  let saved = parse(file);
  const write = (next: typeof saved): void => {
    saved = next;
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify(saved), { mode: 0o600 });
  };
  return {
    get steps() {
      return saved.steps;
    },
    get channel() {
      return saved.account?.channel;
    },
    of: (channel, account) =>
      saved.account?.channel === channel && saved.account.account === account
        ? { ...saved.account.answers }
        : {},
    complete: (step) => write({ ...saved, steps: [...new Set([...saved.steps, step])] }),
    keep(channel, account, all) {
      const answers = Object.fromEntries(
        Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
      );
      write({ ...saved, account: { channel, account, answers } });
    },
    clearAccount() {
      if (saved.account !== undefined) write({ steps: saved.steps });
    },
    clear() {
      saved = { steps: [] };
      rmSync(file, { force: true });
    },
  };
}

/** Returns no progress if the file is missing or damaged. */
function parse(file: string): z.infer<typeof SavedAnswers> {
  if (!existsSync(file)) return { steps: [] };
  try {
    return SavedAnswers.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return { steps: [] };
  }
}

/** Returns true if a setup was interrupted after an answer. */
export function isInterruptedAt({ steps, channel }: Pick<SavedAnswers, "steps" | "channel">): boolean {
  return steps.length > 0 || channel !== undefined;
}
