import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseRecord } from "../records.ts";
import { asText } from "../settings.ts";
import type { Import } from "../source.ts";
import { getFileFault } from "../tree.ts";
import type { ConvertedWorkspace } from "../workspaces.ts";

/** Files with nanobot's summaries of earlier conversations: of present versions, and of old ones. */
export const HISTORY_FILES: readonly string[] = ["memory/history.jsonl", "memory/HISTORY.md"];

/** A summary of an earlier conversation. */
interface Summary {
  readonly file: string;
  readonly day: string;
  readonly text: string;
}

function readHistory(workspaceDir: string): readonly Summary[] {
  return HISTORY_FILES.flatMap((file) => {
    const path = join(workspaceDir, file);
    if (!existsSync(path) || getFileFault(path, workspaceDir) !== undefined) return [];
    const text = readFileSync(path, "utf8");
    return file.endsWith(".jsonl") ? readHistoryLines(file, text) : readHistoryParagraphs(file, text);
  });
}

function readHistoryLines(file: string, text: string): readonly Summary[] {
  return text.split("\n").flatMap((line) => {
    const entry = parseRecord(line);
    const at = timeOf(entry["timestamp"]);
    const content = asText(entry["content"]);
    if (at === 0 || content === undefined) return [];
    return [{ file, day: new Date(at).toISOString().slice(0, 10), text: content }];
  });
}

/** Reads paragraphs that begin with `[YYYY-MM-DD HH:MM]`. A paragraph without a date belongs to the one before it. */
function readHistoryParagraphs(file: string, text: string): readonly Summary[] {
  let day: string | undefined;
  return text.split(/\n\s*\n/).flatMap((paragraph) => {
    day = /^\s*\[(\d{4}-\d\d-\d\d)[^\]\n]*\]/.exec(paragraph)?.[1] ?? day;
    return day === undefined || paragraph.trim() === "" ? [] : [{ file, day, text: paragraph.trim() }];
  });
}

/** Returns a time in milliseconds since the epoch, or 0 if it cannot be read. */
export function timeOf(value: unknown): number {
  const at = typeof value === "number" ? value : typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isFinite(at) ? at : 0;
}

/** Adds nanobot's summaries of earlier conversations to the notes of their days. */
export function addHistory(
  workspaceDir: string,
  agentId: string,
  imports: ConvertedWorkspace["imports"],
): readonly Import[] {
  const byDay = new Map<string, Summary[]>();
  for (const summary of readHistory(workspaceDir))
    byDay.set(summary.day, [...(byDay.get(summary.day) ?? []), summary]);
  const placeOf = (day: string): string => `workspaces/${agentId}/memory/${day}.md`;
  // Summaries repeat what anyone said, so they are never an owner's own words.
  const textOf = (day: string): string =>
    (byDay.get(day) ?? [])
      .map(({ text }) => {
        const line = text.replace(/\s+/g, " ").replaceAll("<!--", "&lt;!--");
        return `- ${line} <!-- memory {"untrusted":"other"} -->\n`;
      })
      .join("");
  const days = [...byDay.keys()];
  const withHistory = imports.map((each): Import => {
    const day = each.kind === "file" ? days.find((one) => placeOf(one) === each.to) : undefined;
    if (day === undefined || each.kind !== "file" || !("text" in each.content)) return each;
    return { ...each, content: { text: `${each.content.text.trimEnd()}\n\n${textOf(day)}` } };
  });
  const present = new Map(
    withHistory.flatMap((each) =>
      each.kind === "file" && "text" in each.content ? [[each.to, each.content.text] as const] : [],
    ),
  );
  const added = days.flatMap((day) =>
    [...new Set((byDay.get(day) ?? []).map(({ file }) => file))].map(
      (file): Import => ({
        kind: "file",
        part: "memory",
        id: `${agentId}/${file}#${day}`,
        content: { text: present.get(placeOf(day)) ?? textOf(day) },
        to: placeOf(day),
        loss: "Summaries of conversations count as untrusted.",
      }),
    ),
  );
  return [...withHistory, ...added];
}
