import { escapeLine } from "../escape.ts";
import { hashJson } from "../hash.ts";
import type { ApprovalSubject, RunFacts } from "../types.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { getVisibleWorkspace } from "./places.ts";
import { detectEncoding } from "./text.ts";
import { compareTexts } from "./text-work.ts";

/** Maximum size of a file whose old content is compared, in bytes. Larger files are shown as new. */
const MAX_BYTES = 1_000_000;
/**
 * Shown instead of a change that does not match the file. The reason could reveal content that the run has not read.
 */
export const CANNOT_BE_MADE = "[this change does not fit the file]";

/** Returns the diff of a file for a person to approve before the file is written. */
export async function describeChange(
  workspace: Workspace,
  path: string,
  facts: RunFacts,
  change: (before: string) => string | Promise<string>,
): Promise<ApprovalSubject> {
  const visible = getVisibleWorkspace(workspace, facts);
  const place = await visible.locate(path);
  const before = await readText(visible, path);
  const after = await change(before ?? "");
  const newName = escapeLine(place);
  const oldName = before === undefined ? "/dev/null" : newName;
  const action = await compareTexts({ oldName, newName, before: before ?? "", after }, facts);
  const states = { from: hashJson({ place, text: before }), to: hashJson({ place, text: after }) };
  return { action, cwd: workspace.dir, states };
}

async function readText(workspace: Workspace, path: string): Promise<string | undefined> {
  const file = await workspace.openFile(path).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    if (file.size > MAX_BYTES) return undefined;
    const bytes = await file.handle.readFile();
    return detectEncoding(bytes, true) === "utf-8" ? bytes.toString("utf8") : undefined;
  } finally {
    await file.close();
  }
}
