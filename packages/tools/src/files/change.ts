import { hashOf } from "../hash.ts";
import type { ApprovalSubject, RunFacts } from "../types.ts";
import { visibleLine } from "../visible.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { assertVisible } from "./places.ts";
import { detectEncoding } from "./text.ts";
import { compareTexts } from "./text-work.ts";

/** Of a file; larger ones are shown whole, without what was there before. */
const MAX_BYTES = 1_000_000;
/** In place of the change: what is wrong with it would tell the run of a text that it has not read. */
export const CANNOT_BE_MADE = "[this change cannot be made]";

/** What a person is shown before a file is written: its change, line by line. */
export async function changeOf(
  workspace: Workspace,
  path: string,
  facts: RunFacts,
  change: (before: string) => string | Promise<string>,
): Promise<ApprovalSubject> {
  const place = await workspace.locate(path);
  const before = await textOf(workspace, path, facts);
  const after = await change(before ?? "");
  const newName = visibleLine(place);
  const oldName = before === undefined ? "/dev/null" : newName;
  const action = await compareTexts({ oldName, newName, before: before ?? "", after });
  const states = { from: hashOf({ place, text: before }), to: hashOf({ place, text: after }) };
  return { action, cwd: workspace.dir, states };
}

async function textOf(workspace: Workspace, path: string, facts: RunFacts): Promise<string | undefined> {
  const file = await workspace.openFile(path).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    assertVisible(path, file.displayPath, facts);
    if (file.size > MAX_BYTES) return undefined;
    const bytes = await file.handle.readFile();
    return detectEncoding(bytes, true) === "utf-8" ? bytes.toString("utf8") : undefined;
  } finally {
    await file.close();
  }
}
