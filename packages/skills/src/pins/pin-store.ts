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
  /** Its text files by path in the folder, for diffs of later changes. */
  readonly texts: Readonly<Record<string, string>>;
  /** Name of the person who approved it. */
  readonly by: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Stores approvals. */
export interface PinStore {
  get(skillDir: string): Promise<ApprovedSkill | undefined>;
  /** Replaces the approval of the same folder. */
  put(approved: ApprovedSkill): Promise<void>;
  /** Returns true if a source was scanned before, so that skills without an approval are new. */
  isKnown(sourceDir: string): Promise<boolean>;
  markKnown(sourceDir: string): Promise<void>;
}

/** A list of pairs, in which any file name is safe, including `__proto__`. */
const byPath = z.array(z.tuple([z.string(), z.string()]));
const approvedSchema = z.object({
  dir: z.string(),
  digest: z.string(),
  files: byPath,
  texts: byPath,
  by: z.string(),
  at: z.number(),
});

/** Stores each approval in its own file, so that several processes can share the folder. */
export function createPinFiles(folder: string): PinStore {
  const getFile = (kind: "skill" | "source", dir: string): string =>
    join(folder, `${kind}-${sha256(dir).slice(0, 32)}.json`);
  const write = async (file: string, value: object): Promise<void> => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // Several agents may approve the same skill at the same time.
    const draft = `${file}.${randomUUID()}.tmp`;
    await writeFile(draft, JSON.stringify(value), { mode: 0o600 });
    await rename(draft, file);
  };
  return {
    async get(skillDir) {
      const text = await readText(getFile("skill", skillDir));
      if (text === undefined) return undefined;
      const kept = approvedSchema.safeParse(parseJson(text)).data;
      // A damaged file approves nothing, and the skill does not count as new.
      if (kept?.dir !== skillDir) return createEmptyApproval(skillDir);
      const { digest, files, texts, ...rest } = kept;
      return { ...rest, pin: { digest, files: Object.fromEntries(files) }, texts: Object.fromEntries(texts) };
    },
    put({ pin: { digest, files }, texts, ...rest }) {
      const kept = { ...rest, digest, files: Object.entries(files), texts: Object.entries(texts) };
      return write(getFile("skill", rest.dir), kept);
    },
    isKnown: async (sourceDir) => (await readText(getFile("source", sourceDir))) !== undefined,
    markKnown: (sourceDir) => write(getFile("source", sourceDir), { dir: sourceDir }),
  };
}

function createEmptyApproval(dir: string): ApprovedSkill {
  return { dir, pin: { digest: "", files: {} }, texts: {}, by: "nobody", at: 0 };
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
