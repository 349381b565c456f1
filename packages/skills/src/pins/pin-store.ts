import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { sha256 } from "../text.ts";
import type { SkillPin } from "./pin.ts";

/** A skill as it was when it was approved. */
export interface ApprovedSkill {
  /** Its folder, absolute. */
  readonly dir: string;
  readonly pin: SkillPin;
  /** Its text files by their path in the folder, so that what changes later can be shown. */
  readonly texts: Readonly<Record<string, string>>;
  /** Who approved it. */
  readonly by: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Where approvals are kept. */
export interface PinStore {
  get(skillDir: string): Promise<ApprovedSkill | undefined>;
  /** Replaces what was approved before in the same folder. */
  put(approved: ApprovedSkill): Promise<void>;
  /** Whether the skills of a source have been looked at before, so that others in it are new. */
  isKnown(sourceDir: string): Promise<boolean>;
  know(sourceDir: string): Promise<void>;
}

/** A list, which keeps any file name, also `__proto__`. */
const byPath = z.array(z.tuple([z.string(), z.string()]));
const approvedSchema = z.object({
  dir: z.string(),
  digest: z.string(),
  files: byPath,
  texts: byPath,
  by: z.string(),
  at: z.number(),
});

/** Keeps each approval in a file of its own, so that the command line can approve beside a running gateway. */
export function createPinFiles(folder: string): PinStore {
  const fileOf = (kind: "skill" | "source", dir: string): string =>
    join(folder, `${kind}-${sha256(dir).slice(0, 32)}.json`);
  const write = async (file: string, value: object): Promise<void> => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // Several agents may see a skill for the first time at once.
    const draft = `${file}.${randomUUID()}.tmp`;
    await writeFile(draft, JSON.stringify(value), { mode: 0o600 });
    await rename(draft, file);
  };
  return {
    async get(skillDir) {
      const text = await textOf(fileOf("skill", skillDir));
      if (text === undefined) return undefined;
      const kept = approvedSchema.safeParse(jsonOf(text)).data;
      // A file that cannot be read approves nothing, and the skill is no longer new.
      if (kept?.dir !== skillDir) return approvedNothing(skillDir);
      const { digest, files, texts, ...rest } = kept;
      return { ...rest, pin: { digest, files: Object.fromEntries(files) }, texts: Object.fromEntries(texts) };
    },
    put({ pin: { digest, files }, texts, ...rest }) {
      const kept = { ...rest, digest, files: Object.entries(files), texts: Object.entries(texts) };
      return write(fileOf("skill", rest.dir), kept);
    },
    isKnown: async (sourceDir) => (await textOf(fileOf("source", sourceDir))) !== undefined,
    know: (sourceDir) => write(fileOf("source", sourceDir), { dir: sourceDir }),
  };
}

function approvedNothing(dir: string): ApprovedSkill {
  return { dir, pin: { digest: "", files: {} }, texts: {}, by: "nobody", at: 0 };
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
