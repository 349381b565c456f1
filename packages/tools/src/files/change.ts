import type { ApprovalSubject } from "../types.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { detectEncoding } from "./text.ts";

/** Of a file; larger ones are shown whole, without what was there before. */
const MAX_BYTES = 1_000_000;

/** What a person is asked about before a file is written: what becomes of it, line by line. */
export async function changeOf(
  workspace: Workspace,
  path: string,
  change: (before: string) => string,
): Promise<ApprovalSubject> {
  const place = await workspace.locate(path);
  const before = await textOf(workspace, path);
  const after = change(before ?? "");
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import("diff");
  const old = before === undefined ? "/dev/null" : place;
  const headers = { headerOptions: FILE_HEADERS_ONLY };
  const action = createTwoFilesPatch(old, place, before ?? "", after, undefined, undefined, headers);
  return { action, cwd: workspace.dir };
}

async function textOf(workspace: Workspace, path: string): Promise<string | undefined> {
  const bytes = await workspace.readBytes(path, MAX_BYTES).catch(() => undefined);
  return bytes !== undefined && detectEncoding(bytes, true) === "utf-8"
    ? Buffer.from(bytes).toString("utf8")
    : undefined;
}
