import { hash } from "node:crypto";
import { estimateTokens, type ToolSpec } from "@signalbox/agent-core";
import type { PromptSection } from "./types.ts";

/** Size of the compared blocks, in bytes. */
const BLOCK_BYTES = 16;
const HASH_CHARS = 8;

/** The beginning of a request that a vendor may cache: the tools, followed by the stable sections. */
export interface PromptPrefix {
  /** Digest of the prefix. Identical for identical bytes. */
  readonly digest: string;
  /** The tools as a section, which precedes all others. */
  readonly tools: Omit<PromptSection, "text">;
  /** Returns the hashes of each section. They are only needed if the digest has changed. */
  hashes(): readonly SectionHashes[];
}

/** Hashes of a section. They contain no text, so that deleted data does not survive here. */
export interface SectionHashes {
  readonly name: string;
  /** Length in UTF-8 bytes. */
  readonly bytes: number;
  /** Concatenated hashes of each block of {@link BLOCK_BYTES} bytes. */
  readonly blocks: string;
}

/** The first difference between two prefixes. A vendor's cache cannot be used from there on. */
export interface PrefixDrift {
  readonly section: string;
  readonly change: "added" | "removed" | "changed";
  /** Offset in the section, rounded down to a block of 16 bytes. */
  readonly byte: number;
}

export function createPrefix(sections: readonly PromptSection[], tools: readonly ToolSpec[]): PromptPrefix {
  const stable = sections.filter(({ part }) => part === "stable");
  const toolsText = JSON.stringify(tools);
  const texts = [{ name: "tools", text: toolsText }, ...stable];
  const named = texts.map(({ name, text }) => `${name}:${text.length}:${text}`).join("");
  return {
    digest: hash("sha256", named, "hex").slice(0, 16),
    tools: {
      name: "tools",
      title: "Tools",
      chars: toolsText.length,
      tokens: estimateTokens(toolsText),
      part: "stable",
    },
    hashes: () => texts.map(hashSection),
  };
}

/** Returns the first difference between two prefixes, if any. */
export function findDrift(
  before: readonly SectionHashes[],
  after: readonly SectionHashes[],
): PrefixDrift | undefined {
  for (const [index, now] of after.entries()) {
    const then = before[index];
    if (then?.name !== now.name) {
      const isNew = !before.some(({ name }) => name === now.name);
      return isNew || then === undefined
        ? { section: now.name, change: "added", byte: 0 }
        : { section: then.name, change: "removed", byte: 0 };
    }
    if (then.blocks !== now.blocks || then.bytes !== now.bytes)
      return { section: now.name, change: "changed", byte: findFirstDifference(then, now) };
  }
  const removed = before[after.length];
  return removed === undefined ? undefined : { section: removed.name, change: "removed", byte: 0 };
}

function hashSection({ name, text }: { readonly name: string; readonly text: string }): SectionHashes {
  const bytes = Buffer.from(text);
  let blocks = "";
  for (let from = 0; from < bytes.length; from += BLOCK_BYTES)
    blocks += hash("sha256", bytes.subarray(from, from + BLOCK_BYTES), "hex").slice(0, HASH_CHARS);
  return { name, bytes: bytes.length, blocks };
}

function findFirstDifference(then: SectionHashes, now: SectionHashes): number {
  const length = Math.min(then.blocks.length, now.blocks.length);
  for (let at = 0; at < length; at += HASH_CHARS) {
    if (then.blocks.slice(at, at + HASH_CHARS) !== now.blocks.slice(at, at + HASH_CHARS))
      return (at / HASH_CHARS) * BLOCK_BYTES;
  }
  return Math.min(then.bytes, now.bytes);
}
