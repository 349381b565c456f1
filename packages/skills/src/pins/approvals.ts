import { basename, join } from "node:path";
import type { Ineligibility } from "../eligibility.ts";
import type { SkillFs } from "../fs.ts";
import type { Skill } from "../skill.ts";
import type { SkillSourceKind } from "../sources.ts";
import { comparePins, type Pinner, type SkillChange, SkillFolderError, type SkillPin } from "./pin.ts";
import type { ApprovedSkill, PinStore } from "./pin-store.ts";

/** A skill that waits for an owner, with all that an approval of it is about. */
export interface PendingSkill {
  readonly skill: Skill;
  /** Of the folder as it is now; what is approved is exactly this. */
  readonly digest: string;
  readonly change: SkillChange;
  /** The changes of its text files, line by line. */
  readonly diff: string;
}

/** Text files that are kept to be compared, in UTF-16 units. Others are told of by their names. */
const MAX_TEXT = 64_000;
const MAX_TEXTS = 256_000;
const NOTHING: SkillPin = { digest: "", files: {} };
/** Folders of an agent's own, into which something that runs there may have written. */
const IN_WORKSPACES: ReadonlySet<SkillSourceKind> = new Set(["project", "workspace"]);
/** Checks of a folder take at most one part in so many of the time. */
const REST = 20;

/** The change of a text, line by line. A name is `/dev/null` if there is no such file. */
export type CompareTexts = (texts: {
  readonly oldName: string;
  readonly newName: string;
  readonly before: string;
  readonly after: string;
}) => Promise<string>;

export interface SkillApprovalsOptions {
  readonly store: PinStore;
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
 * Which skills owners have approved as they are. Those of a release are approved with it. Others are pinned as they are
 * first seen; what comes into a workspace that was looked at before, and whatever changes, waits for an owner.
 */
export class SkillApprovals {
  readonly #store: PinStore;
  readonly #compare: CompareTexts;
  readonly #pinsFirstSeen: () => boolean;
  readonly #pinner: Pinner;
  readonly #fs: SkillFs;
  readonly #now: () => number;
  readonly #checks = new Map<string, Check>();
  /** What was approved when it was last read. */
  readonly #approved = new Map<string, ApprovedSkill>();

  constructor({ store, compare, pinsFirstSeen, pinner, fs, now }: SkillApprovalsOptions) {
    this.#store = store;
    this.#compare = compare;
    this.#pinsFirstSeen = pinsFirstSeen;
    this.#pinner = pinner;
    this.#fs = fs;
    this.#now = now;
  }

  /** Why a skill may not be offered; a check that is at most so old, in milliseconds, holds. */
  async against(skill: Skill, sourceDir: string, maxAgeMs: number): Promise<Ineligibility | undefined> {
    if (skill.source === "bundled") return undefined;
    const before = this.#checks.get(skill.dir);
    const at = this.#now();
    const age = maxAgeMs === 0 ? 0 : Math.max(maxAgeMs, REST * (before?.tookMs ?? 0));
    if (before !== undefined && Math.abs(at - before.at) < age) return before.reason;
    const reason = await this.#check(skill, sourceDir);
    this.#checks.set(skill.dir, { at, tookMs: this.#now() - at, reason });
    return reason;
  }

  async #check(skill: Skill, sourceDir: string): Promise<Ineligibility | undefined> {
    try {
      const pin = await this.#pinner.pin(skill);
      // What is offered is what was read, which may be older than what is pinned.
      if (pin.files[basename(skill.file)]?.startsWith(skill.version) !== true) {
        return { requirement: "pin", missing: [skill.file], message: "It changed while it was looked at." };
      }
      if (this.#approved.get(skill.dir)?.pin.digest === pin.digest) return undefined;
      const approved = await this.#store.get(skill.dir);
      if (approved !== undefined) this.#approved.set(skill.dir, approved);
      const isNew = approved === undefined;
      if (isNew && !(IN_WORKSPACES.has(skill.source) && (await this.#store.isKnown(sourceDir)))) {
        if (this.#pinsFirstSeen()) await this.#keep(skill, pin, "as it was first seen");
        return undefined;
      }
      const change = comparePins(approved?.pin ?? NOTHING, pin);
      if (change === undefined) return undefined;
      const missing = inWords(change);
      const what = isNew ? "It is new" : `It is not as it was approved: ${missing.join(", ")}`;
      return { requirement: "pin", missing, message: `${what}, and needs an owner's approval.` };
    } catch (error) {
      if (!(error instanceof SkillFolderError)) throw error;
      return { requirement: "pin", missing: [skill.dir], message: error.message };
    }
  }

  /** The skills of a source have been seen; what is added to it from now on is new. */
  async know(sourceDir: string): Promise<void> {
    if (this.#pinsFirstSeen() && !(await this.#store.isKnown(sourceDir))) await this.#store.know(sourceDir);
  }

  /** What an owner is to see before a skill is approved; undefined where it is as it was approved. */
  async pending(skill: Skill): Promise<PendingSkill | undefined> {
    const pin = await this.#pinOf(skill);
    if (pin === undefined) return undefined;
    const approved = await this.#store.get(skill.dir);
    const change = comparePins(approved?.pin ?? NOTHING, pin);
    if (change === undefined) return undefined;
    const diff = await diffOf(this.#compare, approved?.texts ?? {}, this.#textsOf(skill, pin));
    return { skill, digest: pin.digest, change, diff };
  }

  /** Approves a folder if it is still what the digest says. */
  async approve(skill: Skill, digest: string, by: string): Promise<boolean> {
    const pin = await this.#pinOf(skill);
    if (pin?.digest !== digest) return false;
    await this.#keep(skill, pin, by);
    this.#checks.delete(skill.dir);
    return true;
  }

  /** Undefined if that cannot be determined: `against` says why, and it cannot be approved as it is. */
  async #pinOf(skill: Skill): Promise<SkillPin | undefined> {
    try {
      return await this.#pinner.pin(skill);
    } catch (error) {
      if (error instanceof SkillFolderError) return undefined;
      throw error;
    }
  }

  async #keep(skill: Skill, pin: SkillPin, by: string): Promise<void> {
    const texts = this.#textsOf(skill, pin);
    const approved: ApprovedSkill = { dir: skill.dir, pin, texts, by, at: this.#now() };
    await this.#store.put(approved);
    this.#approved.set(skill.dir, approved);
  }

  #textsOf({ dir, root }: Skill, pin: SkillPin): Record<string, string> {
    const texts: [string, string][] = [];
    let room = MAX_TEXTS;
    for (const path of Object.keys(pin.files)) {
      // What is read through a link is shown as well.
      const real = this.#fs.realpath(join(dir, path));
      const bytes = real === undefined ? undefined : this.#fs.read(real, MAX_TEXT, root);
      const text = bytes && textIn(bytes);
      if (text === undefined || text.length > room) continue;
      room -= text.length;
      texts.push([path, text]);
    }
    return Object.fromEntries(texts);
  }
}

function inWords({ added, removed, changed }: SkillChange): string[] {
  return [
    ...added.map((path) => `${path} added`),
    ...removed.map((path) => `${path} removed`),
    ...changed.map((path) => `${path} changed`),
  ];
}

async function diffOf(
  compare: CompareTexts,
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): Promise<string> {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  const textAt = (texts: Readonly<Record<string, string>>, path: string) =>
    Object.hasOwn(texts, path) ? texts[path] : undefined;
  const patches = paths
    .map((path) => ({ path, old: textAt(before, path), now: textAt(after, path) }))
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

function textIn(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}
