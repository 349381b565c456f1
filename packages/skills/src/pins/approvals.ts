import { basename, join } from "node:path";
import type { Ineligibility } from "../eligibility.ts";
import type { SkillFs } from "../fs.ts";
import type { Skill } from "../skill.ts";
import type { SkillSourceKind } from "../sources.ts";
import { comparePins, type Pinner, type SkillChange, SkillFolderError, type SkillPin } from "./pin.ts";
import type { ApprovedSkill, PinStore } from "./pin-store.ts";

/** A skill that is waiting for approval, with everything that the approval is bound to. */
export interface PendingSkill {
  readonly skill: Skill;
  /** SHA-256 of the folder as it is now, in hexadecimal. An approval is bound to it. */
  readonly digest: string;
  readonly change: SkillChange;
  /** Diff of its text files. */
  readonly diff: string;
}

/** Maximum size of a text file that is stored for diffs, in bytes. Other files are only listed by name in approvals. */
const MAX_TEXT_BYTES = 64_000;
/** Total length of the stored texts of a skill in UTF-16 units. */
const MAX_TEXTS_CHARS = 256_000;
const EMPTY_PIN: SkillPin = { digest: "", files: {} };
/** Sources that the commands of an agent can write to. */
const IN_WORKSPACES: ReadonlySet<SkillSourceKind> = new Set(["project", "workspace"]);
/** A check is used for this many times its duration, so that checks take at most a twentieth of the time. */
const MIN_AGE_FACTOR = 20;

/** Returns the diff of two texts. A name is `/dev/null` if there is no such file. */
export type CompareTexts = (texts: {
  readonly oldName: string;
  readonly newName: string;
  readonly before: string;
  readonly after: string;
}) => Promise<string>;

export interface SkillApprovalsOptions {
  readonly store: () => PinStore | undefined;
  readonly compare: CompareTexts;
  readonly pinsFirstSeen: () => boolean;
  readonly pinner: Pinner;
  readonly fs: SkillFs;
  readonly now: () => number;
}

interface Check {
  readonly at: number;
  readonly tookMs: number;
  readonly reason: Ineligibility | undefined;
}

/**
 * Checks which skills are approved. Bundled skills are approved with their release. Other skills are approved when they
 * are first seen. Skills that appear in a known workspace and skills that change wait for an owner.
 */
export class SkillApprovals {
  readonly #getStore: () => PinStore | undefined;
  readonly #compare: CompareTexts;
  readonly #pinsFirstSeen: () => boolean;
  readonly #pinner: Pinner;
  readonly #fs: SkillFs;
  readonly #now: () => number;
  readonly #checks = new Map<string, Check>();
  /** A cache of the store. */
  readonly #approved = new Map<string, ApprovedSkill>();

  constructor({ store, compare, pinsFirstSeen, pinner, fs, now }: SkillApprovalsOptions) {
    this.#getStore = store;
    this.#compare = compare;
    this.#pinsFirstSeen = pinsFirstSeen;
    this.#pinner = pinner;
    this.#fs = fs;
    this.#now = now;
  }

  /**
   * Returns the reason why a skill is not approved, or undefined if it is.
   *
   * @param maxAgeMs maximum age of a check, in milliseconds
   */
  async check(skill: Skill, sourceDir: string, maxAgeMs: number): Promise<Ineligibility | undefined> {
    const store = this.#getStore();
    if (skill.source === "bundled" || store === undefined) return undefined;
    const before = this.#checks.get(skill.dir);
    const at = this.#now();
    const age = maxAgeMs === 0 ? 0 : Math.max(maxAgeMs, MIN_AGE_FACTOR * (before?.tookMs ?? 0));
    if (before !== undefined && Math.abs(at - before.at) < age) return before.reason;
    const reason = await this.#checkNow(store, skill, sourceDir);
    this.#checks.set(skill.dir, { at, tookMs: this.#now() - at, reason });
    return reason;
  }

  async #checkNow(store: PinStore, skill: Skill, sourceDir: string): Promise<Ineligibility | undefined> {
    try {
      const pin = await this.#pinner.pin(skill);
      // The skill was read earlier than it is pinned now.
      if (pin.files[basename(skill.file)] !== skill.sha256) {
        return { requirement: "pin", missing: [skill.file], message: "It changed while it was checked." };
      }
      if (this.#approved.get(skill.dir)?.pin.digest === pin.digest) return undefined;
      const approved = await store.get(skill.dir);
      if (approved !== undefined) this.#approved.set(skill.dir, approved);
      const isNew = approved === undefined;
      if (isNew && !(IN_WORKSPACES.has(skill.source) && (await store.isKnown(sourceDir)))) {
        if (this.#pinsFirstSeen()) await this.#approve(store, skill, pin, "as it was first seen");
        return undefined;
      }
      const change = comparePins(approved?.pin ?? EMPTY_PIN, pin);
      if (change === undefined) return undefined;
      const missing = describeChange(change);
      const message = isNew
        ? "It is new and needs an owner's approval."
        : `It has changed since it was approved and needs an owner's approval: ${missing.join(", ")}.`;
      return { requirement: "pin", missing, message };
    } catch (error) {
      if (!(error instanceof SkillFolderError)) throw error;
      return { requirement: "pin", missing: [skill.dir], message: error.message };
    }
  }

  /** Marks a source as known. Skills that are added to it later need approval. */
  async markKnown(sourceDir: string): Promise<void> {
    const store = this.#getStore();
    if (store !== undefined && this.#pinsFirstSeen() && !(await store.isKnown(sourceDir)))
      await store.markKnown(sourceDir);
  }

  /** Returns the changes that an owner must see before approving a skill, or undefined if it is approved. */
  async getPending(skill: Skill): Promise<PendingSkill | undefined> {
    const store = this.#getStore();
    const pin = store && (await this.#getPin(skill));
    if (store === undefined || pin === undefined) return undefined;
    const approved = await store.get(skill.dir);
    const change = comparePins(approved?.pin ?? EMPTY_PIN, pin);
    if (change === undefined) return undefined;
    const diff = await createDiff(this.#compare, approved?.texts ?? {}, this.#readTexts(skill, pin));
    return { skill, digest: pin.digest, change, diff };
  }

  /** Approves a skill. Returns false if its folder no longer has this digest. */
  async approve(skill: Skill, digest: string, by: string): Promise<boolean> {
    const store = this.#getStore();
    const pin = store && (await this.#getPin(skill));
    if (store === undefined || pin?.digest !== digest) return false;
    await this.#approve(store, skill, pin, by);
    this.#checks.delete(skill.dir);
    return true;
  }

  /** Returns undefined if the folder cannot be read; `check` says why. */
  async #getPin(skill: Skill): Promise<SkillPin | undefined> {
    try {
      return await this.#pinner.pin(skill);
    } catch (error) {
      if (error instanceof SkillFolderError) return undefined;
      throw error;
    }
  }

  async #approve(store: PinStore, skill: Skill, pin: SkillPin, by: string): Promise<void> {
    const texts = this.#readTexts(skill, pin);
    const approved: ApprovedSkill = { dir: skill.dir, pin, texts, by, at: this.#now() };
    await store.put(approved);
    this.#approved.set(skill.dir, approved);
  }

  #readTexts({ dir, root }: Skill, pin: SkillPin): Record<string, string> {
    const texts: [string, string][] = [];
    let room = MAX_TEXTS_CHARS;
    for (const path of Object.keys(pin.files)) {
      // Files that are read through links are shown, too.
      const real = this.#fs.realpath(join(dir, path));
      const bytes = real === undefined ? undefined : this.#fs.read(real, MAX_TEXT_BYTES, root);
      const text = bytes && decodeUtf8(bytes);
      if (text === undefined || text.length > room) continue;
      room -= text.length;
      texts.push([path, text]);
    }
    return Object.fromEntries(texts);
  }
}

function describeChange({ added, removed, changed }: SkillChange): string[] {
  return [
    ...added.map((path) => `${path} added`),
    ...removed.map((path) => `${path} removed`),
    ...changed.map((path) => `${path} changed`),
  ];
}

async function createDiff(
  compare: CompareTexts,
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): Promise<string> {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  const getText = (texts: Readonly<Record<string, string>>, path: string) =>
    Object.hasOwn(texts, path) ? texts[path] : undefined;
  const patches = paths
    .map((path) => ({ path, old: getText(before, path), now: getText(after, path) }))
    .filter(({ old, now }) => old !== now)
    .map(({ path, old, now }) =>
      compare({
        oldName: old === undefined ? "/dev/null" : path,
        newName: now === undefined ? "/dev/null" : path,
        before: old ?? "",
        after: now ?? "",
      }),
    );
  return (await Promise.all(patches)).join("");
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/**
 * Hexadecimal digits of the digest by which a person selects a state of a skill. Two folders that share
 * 128 bits cannot be found.
 */
const SHORT_DIGEST_CHARS = 32;

export function shortDigest({ digest }: Pick<PendingSkill, "digest">): string {
  return digest.slice(0, SHORT_DIGEST_CHARS);
}

/**
 * Describes everything that an approval is bound to, as lines.
 *
 * @param visible escapes characters that are invisible or misleading, in a text of several lines and in one line
 */
export function describePending(
  { skill, change, diff }: PendingSkill,
  visible: Readonly<Record<"text" | "line", (text: string) => string>>,
): string[] {
  const list = (what: string, paths: readonly string[]) =>
    paths.length === 0 ? [] : [`${what}: ${paths.map(visible.line).join(", ")}`];
  return [
    `The skill ${skill.id} (${skill.source}, ${visible.line(skill.dir)}) needs an owner's approval.`,
    ...list("Added", change.added),
    ...list("Removed", change.removed),
    ...list("Changed", change.changed),
    ...(diff === "" ? [] : [visible.text(diff).trimEnd()]),
  ];
}
