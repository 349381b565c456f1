import type { ApprovalSubject } from "../types.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { detectEncoding } from "./text.ts";

/** Of a file; larger ones are shown whole, without what was there before. */
const MAX_BYTES = 1_000_000;
/** Lines that go or come: to find out what stays between more of them takes as long as their number squared. */
const MOST_CHANGED_LINES = 300;

/** What a person is asked about before a file is written: what becomes of it, line by line. */
export async function changeOf(
  workspace: Workspace,
  path: string,
  change: (before: string) => string | Promise<string>,
): Promise<ApprovalSubject> {
  const place = await workspace.locate(path);
  const before = await textOf(workspace, path);
  const after = await change(before ?? "");
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import("diff");
  const old = before === undefined ? "/dev/null" : place;
  const options = { headerOptions: FILE_HEADERS_ONLY, maxEditLength: MOST_CHANGED_LINES };
  const patch = createTwoFilesPatch(old, place, before ?? "", after, undefined, undefined, options);
  return { action: patch ?? wholePatch(old, place, before ?? "", after), cwd: workspace.dir };
}

function wholePatch(old: string, place: string, before: string, after: string): string {
  const lines = (text: string, sign: string) =>
    text === "" ? [] : text.split("\n").map((line) => sign + line);
  const head = [`--- ${old}`, `+++ ${place}`, "@@ almost all of it @@"];
  return [...head, ...lines(before, "-"), ...lines(after, "+")].join("\n");
}

async function textOf(workspace: Workspace, path: string): Promise<string | undefined> {
  const bytes = await workspace.readBytes(path, MAX_BYTES).catch(() => undefined);
  return bytes !== undefined && detectEncoding(bytes, true) === "utf-8"
    ? Buffer.from(bytes).toString("utf8")
    : undefined;
}
