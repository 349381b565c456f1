import { readdir, readFile, rm } from "node:fs/promises";
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

/** Stores JSON values by namespace and key, like the `kv` of `@signalbox/store`. */
export interface PinValues {
  get(namespace: string, key: string): Promise<unknown>;
  set(namespace: string, key: string, value: object | null): Promise<void>;
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

const NAMESPACE = "skill-pins";

function keyOf(kind: "skill" | "source", name: string): string {
  return `${kind}-${sha256(name).slice(0, 32)}`;
}

/**
 * Creates a store with one value for each approval, so that several processes can share the values.
 *
 * @param nameOf returns the name under which a folder is stored. It lets machines share the approvals of a folder that
 * they have at different paths. Default: the path
 */
export function createPins(kv: PinValues, nameOf: (dir: string) => string = (dir) => dir): PinStore {
  /** Also finds approvals that were stored under the path. */
  const read = async (kind: "skill" | "source", dir: string): Promise<unknown> => {
    const names = new Set([nameOf(dir), dir]);
    for (const name of names) {
      const value = await kv.get(NAMESPACE, keyOf(kind, name)).catch(nullIfDamaged);
      if (value !== undefined) return value;
    }
    return undefined;
  };
  return {
    async get(skillDir) {
      const value = await read("skill", skillDir);
      if (value === undefined) return undefined;
      const kept = approvedSchema.safeParse(value).data;
      // A damaged value approves nothing, and the skill does not count as new.
      if (kept === undefined || (kept.dir !== skillDir && kept.dir !== nameOf(skillDir)))
        return createEmptyApproval(skillDir);
      const { digest, files, texts, ...rest } = kept;
      return {
        ...rest,
        dir: skillDir,
        pin: { digest, files: Object.fromEntries(files) },
        texts: Object.fromEntries(texts),
      };
    },
    put({ dir, pin: { digest, files }, texts, ...rest }) {
      const name = nameOf(dir);
      const kept = { ...rest, dir: name, digest, files: Object.entries(files), texts: Object.entries(texts) };
      return kv.set(NAMESPACE, keyOf("skill", name), kept);
    },
    isKnown: async (sourceDir) => (await read("source", sourceDir)) !== undefined,
    async markKnown(sourceDir) {
      const dir = nameOf(sourceDir);
      await kv.set(NAMESPACE, keyOf("source", dir), { dir });
    },
  };
}

/**
 * Moves the approvals from a folder of files, in which earlier versions stored them, and removes the folder. Approvals
 * that are already stored are kept. Can be repeated after a crash.
 */
export async function importPinFiles(folder: string, kv: PinValues): Promise<void> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  });
  if (names === undefined) return;
  for (const name of names) {
    const key = /^((?:skill|source)-[0-9a-f]{32})\.json$/.exec(name)?.[1];
    if (key === undefined || (await kv.get(NAMESPACE, key).catch(nullIfDamaged)) !== undefined) continue;
    // A damaged file becomes a damaged value, because its skill must not count as new.
    await kv.set(NAMESPACE, key, parseObject(await readFile(join(folder, name), "utf8")) ?? null);
  }
  await rm(folder, { recursive: true });
}

function createEmptyApproval(dir: string): ApprovedSkill {
  return { dir, pin: { digest: "", files: {} }, texts: {}, by: "nobody", at: 0 };
}

function nullIfDamaged(error: unknown): null {
  if (error instanceof Error && "code" in error && error.code === "corrupt") return null;
  throw error;
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
