import { hash } from "node:crypto";
import { estimateTokens, type ToolSpec } from "@signalbox/agent-core";
import type { PromptSection } from "./types.ts";

/** Bytes of a section that are compared as one. */
const BLOCK_BYTES = 16;
const HASH_CHARS = 8;

/** The part of a request that a vendor may have in its cache: the tools, then the stable sections. */
export interface PromptPrefix {
  /** The same for the same bytes. */
  readonly digest: string;
  /** The tools as a section, which stands ahead of all others. */
  readonly tools: Omit<PromptSection, "text">;
  /** In the order of the request. Takes a millisecond or so, and is of use only where the digest is another. */
  hashes(): readonly SectionHashes[];
}

/** What a section is compared by. Whatever is forgotten elsewhere must not live on here, so it holds no text. */
export interface SectionHashes {
  readonly name: string;
  /** Of UTF-8. */
  readonly bytes: number;
  /** One after the other, of each {@link BLOCK_BYTES} bytes. */
  readonly blocks: string;
}

/** Where a prefix departs from one before it: from there on nothing is read from a cache. */
export interface PrefixDrift {
  readonly section: string;
  readonly change: "added" | "removed" | "changed";
  /** Of the section: the first that differs is this one, or one of the fifteen behind it. */
  readonly byte: number;
}

export function prefixOf(sections: readonly PromptSection[], tools: readonly ToolSpec[]): PromptPrefix {
  const stable = sections.filter(({ part }) => part === "stable");
  const toolsText = `[${tools.map(jsonOf).join(",")}]`;
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
    hashes: () => texts.map(hashesOf),
  };
}

/** A tool has the same specification in every run. */
const jsonOfSpecs = new WeakMap<ToolSpec, string>();

function jsonOf(spec: ToolSpec): string {
  const json = jsonOfSpecs.get(spec) ?? JSON.stringify(spec);
  jsonOfSpecs.set(spec, json);
  return json;
}

/** The first difference; undefined where there is none. */
export function driftBetween(
  before: readonly SectionHashes[],
  after: readonly SectionHashes[],
): PrefixDrift | undefined {
  for (const [place, now] of after.entries()) {
    const then = before[place];
    if (then?.name !== now.name) {
      const isNew = !before.some(({ name }) => name === now.name);
      return isNew || then === undefined
        ? { section: now.name, change: "added", byte: 0 }
        : { section: then.name, change: "removed", byte: 0 };
    }
    if (then.blocks !== now.blocks || then.bytes !== now.bytes)
      return { section: now.name, change: "changed", byte: firstDifference(then, now) };
  }
  const gone = before[after.length];
  return gone === undefined ? undefined : { section: gone.name, change: "removed", byte: 0 };
}

function hashesOf({ name, text }: { readonly name: string; readonly text: string }): SectionHashes {
  const bytes = Buffer.from(text);
  let blocks = "";
  for (let from = 0; from < bytes.length; from += BLOCK_BYTES)
    blocks += hash("sha256", bytes.subarray(from, from + BLOCK_BYTES), "hex").slice(0, HASH_CHARS);
  return { name, bytes: bytes.length, blocks };
}

function firstDifference(then: SectionHashes, now: SectionHashes): number {
  const most = Math.min(then.blocks.length, now.blocks.length);
  for (let at = 0; at < most; at += HASH_CHARS) {
    if (then.blocks.slice(at, at + HASH_CHARS) !== now.blocks.slice(at, at + HASH_CHARS))
      return (at / HASH_CHARS) * BLOCK_BYTES;
  }
  return Math.min(then.bytes, now.bytes);
}
