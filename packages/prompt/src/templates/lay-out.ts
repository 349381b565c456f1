import { mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Language } from "@signalbox/phrases";
import { ENGLISH } from "./en.ts";
import type { WorkspaceTemplate } from "./template.ts";
import { CHINESE } from "./zh.ts";

const TEMPLATES: Readonly<Record<Language, WorkspaceTemplate>> = { en: ENGLISH, zh: CHINESE };

/** The language of a machine's user, by the variables that every program reads it from. */
export function templateLanguage(env: Readonly<Record<string, string | undefined>>): Language {
  const locale = [env["LC_ALL"], env["LC_MESSAGES"], env["LANG"]].find((value) => value);
  return /^zh\b|^zh_/i.test(locale ?? "") ? "zh" : "en";
}

/**
 * Gives an empty workspace its first files, all at once, so that a crash leaves none of them. A folder that is not
 * empty stays as it is.
 * @returns whether it was empty
 */
export async function layOutWorkspace(dir: string, language: Language): Promise<boolean> {
  if ((await readdir(dir)).length > 0) return false;
  const draft = await mkdtemp(join(dirname(dir), `.${basename(dir)}-`));
  try {
    for (const [name, text] of Object.entries(TEMPLATES[language])) await writeFile(join(draft, name), text);
    // Takes the place of an empty folder, and of no other.
    await rename(draft, dir);
    return true;
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}
