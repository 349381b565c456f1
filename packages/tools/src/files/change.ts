import { hashOf } from "../hash.ts";
import type { ApprovalSubject } from "../types.ts";
import { visibleLine } from "../visible.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { detectEncoding } from "./text.ts";
import { comparedBeside } from "./text-work.ts";

/** Of a file; larger ones are shown whole, without what was there before. */
const MAX_BYTES = 1_000_000;

/** What a person is shown before a file is written: its change, line by line. */
export async function changeOf(
  workspace: Workspace,
  path: string,
  change: (before: string) => string | Promise<string>,
): Promise<ApprovalSubject> {
  const place = await workspace.locate(path);
  const before = await textOf(workspace, path);
  const after = await change(before ?? "");
  const newName = visibleLine(place);
  const oldName = before === undefined ? "/dev/null" : newName;
  const action = await comparedBeside({ oldName, newName, before: before ?? "", after });
  const states = { from: hashOf({ place, text: before }), to: hashOf({ place, text: after }) };
  return { action, cwd: workspace.dir, states };
}

async function textOf(workspace: Workspace, path: string): Promise<string | undefined> {
  const bytes = await workspace.readBytes(path, MAX_BYTES).catch(() => undefined);
  return bytes !== undefined && detectEncoding(bytes, true) === "utf-8"
    ? Buffer.from(bytes).toString("utf8")
    : undefined;
}
