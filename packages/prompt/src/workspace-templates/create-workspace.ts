import { mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Language } from "@signalbox/phrases";
import { ENGLISH } from "./en.ts";
import { CHINESE } from "./zh.ts";

/** The initial files of a new workspace, by language and name. */
const TEMPLATES: Readonly<Record<Language, Readonly<Record<string, string>>>> = { en: ENGLISH, zh: CHINESE };

/** Detects the user's language from the locale variables in the environment. */
export function detectLanguage(env: Readonly<Record<string, string | undefined>>): Language {
  const locale = [env["LC_ALL"], env["LC_MESSAGES"], env["LANG"]].find((value) => value);
  return /^zh\b|^zh_/i.test(locale ?? "") ? "zh" : "en";
}

/**
 * Creates the initial files in an empty workspace. All files are created at once, so that a crash leaves none of them.
 * Does nothing if the folder is not empty.
 *
 * @returns true if the files were created
 */
export async function createWorkspace(dir: string, language: Language): Promise<boolean> {
  if ((await readdir(dir)).length > 0) return false;
  const draft = await mkdtemp(join(dirname(dir), `.${basename(dir)}-`));
  try {
    for (const [name, text] of Object.entries(TEMPLATES[language])) await writeFile(join(draft, name), text);
    // Replaces the folder only if it is still empty.
    await rename(draft, dir);
    return true;
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}
