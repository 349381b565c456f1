import { isAbsolute } from "node:path";
import type { ToolResult } from "@signalbox/agent-core";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "../define.ts";
import { createLabelledWorkspace } from "../labels/labelled-workspace.ts";
import { failure, fileFailure, success } from "../result.ts";
import type { ApprovalSubject, Claim, Permit, RunFacts } from "../types.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { CANNOT_BE_MADE, describeChange } from "./change.ts";
import { createIdentityGuard } from "./identity-files.ts";
import { type PatchChange, PatchError, type PatchStep, parsePatch } from "./patch-format.ts";
import { getVisibleWorkspace, getWriteClaims } from "./places.ts";
import { detectEncoding } from "./text.ts";
import { patchText, type TextWorkOptions } from "./text-work.ts";
import { acquireWriteLock, MAX_LOCKED_MS } from "./write-lock.ts";

export interface ApplyPatchToolOptions {
  readonly workspace: Workspace;
}

/** Maximum size of a patched file in bytes. */
const MAX_BYTES = 2_000_000;

/**
 * Creates the tool `apply_patch`, which changes several files at once. All changes are computed before the first file
 * is written. Its effects are external: applying the same patch twice may change a file twice.
 */
export function createApplyPatchTool({ workspace }: ApplyPatchToolOptions): ToolDefinition {
  return defineTool({
    name: "apply_patch",
    description: `Add, change, move and delete files in one call:
*** Begin Patch
*** Update File: src/a.py
@@ def greet():
-    print("Hi")
+    print("Hello")
*** Add File: b.txt
+one line
*** Delete File: old.txt
*** End Patch
\`*** Move to: <path>\` may follow an \`*** Update File\` line. Unchanged lines start with a space.`,
    inputSchema: z.object({ patch: z.string().min(1).max(1_000_000) }),
    effects: "external",
    claims: ({ patch }, facts) => getClaims(workspace, patch, facts),
    subject: ({ patch }, facts) => createSubject(workspace, patch, facts),
    async run({ args }, { signal }, permit) {
      const done: string[] = [];
      const release = await acquireWriteLock(workspace, signal, permit.run.facts.role);
      try {
        const steps = parsePatch(args.patch);
        const visible = getVisibleWorkspace(workspace, permit.run.facts);
        for (const outcome of await computeOutcomes(visible, steps, permit, signal)) {
          await applyOutcome(visible, outcome, permit);
          done.push(outcome.summary);
        }
        return success(done.join("\n"), { files: done.length });
      } catch (error) {
        if (error instanceof PatchError) return failure(`Nothing was changed. ${error.message}`);
        return done.length === 0 ? fileFailure(error) : toPartialFailure(error, done);
      } finally {
        release();
      }
    },
  });
}

/** Creates the result for a valid patch that could not be written completely. */
function toPartialFailure(error: unknown, done: readonly string[]): ToolResult {
  const { content, ...failed } = fileFailure(error);
  const before = `\nThe rest of the patch was not applied. Completed steps:\n${done.join("\n")}`;
  return { ...failed, content: [...content, { type: "text", text: before }] };
}

/** The effect of one patch step. */
interface StepOutcome {
  readonly write?: { readonly path: string; readonly text: string };
  readonly remove?: string;
  readonly summary: string;
}

async function computeOutcomes(
  workspace: Workspace,
  steps: readonly PatchStep[],
  permit: Permit,
  signal: AbortSignal,
): Promise<readonly StepOutcome[]> {
  const places = await Promise.all(steps.flatMap(getPaths).map((path) => workspace.locate(path)));
  if (new Set(places).size < places.length)
    throw new PatchError("The patch contains a file more than once. Combine its changes in one section.");
  const { role } = permit.run.facts;
  const limited = AbortSignal.any([signal, AbortSignal.timeout(MAX_LOCKED_MS)]);
  const outcomes: StepOutcome[] = [];
  for (const step of steps) {
    switch (step.kind) {
      case "add":
        await assertFree(workspace, step.path);
        outcomes.push({ write: { path: step.path, text: step.text }, summary: `Added ${step.path}` });
        break;
      case "delete":
        await readText(workspace, step.path, permit);
        outcomes.push({ remove: step.path, summary: `Deleted ${step.path}` });
        break;
      case "update": {
        const before = await readText(workspace, step.path, permit);
        const text = await patchText(step.path, before, step.changes, { role, signal: limited });
        const { path, moveTo } = step;
        if (moveTo !== undefined) await assertFree(workspace, moveTo);
        outcomes.push({
          write: { path: moveTo ?? path, text },
          ...(moveTo === undefined ? {} : { remove: path }),
          summary: moveTo === undefined ? `Updated ${path}` : `Updated ${path}, now ${moveTo}`,
        });
      }
    }
  }
  return outcomes;
}

async function applyOutcome(
  workspace: Workspace,
  { write, remove }: StepOutcome,
  permit: Permit,
): Promise<void> {
  const labelled = createLabelledWorkspace(workspace);
  if (write !== undefined)
    await workspace.writeFile(write.path, Buffer.from(write.text, "utf8"), {
      check: createIdentityGuard(permit),
      before: (path) => labelled.beforeWrite(path, permit),
    });
  if (remove === undefined) return;
  createIdentityGuard(permit)(await workspace.locate(remove));
  await workspace.removeFile(remove);
}

/**
 * Reads a file and marks it as read by the run, because the error message for a change that does not match reveals its
 * content.
 */
async function readText(workspace: Workspace, path: string, { run }: Permit): Promise<string> {
  const file = await workspace.openFile(path);
  try {
    createLabelledWorkspace(workspace).recordRead(file.path, file.changedAt, run);
    if (file.size > MAX_BYTES) throw new PatchError(`${path} is too large to be patched.`);
    const bytes = await file.handle.readFile();
    if (detectEncoding(bytes, true) !== "utf-8") throw new PatchError(`${path} is not UTF-8 text.`);
    return bytes.toString("utf8");
  } finally {
    await file.close();
  }
}

/** Checks that a path is in the workspace and that a file can be created there without replacing another file. */
async function assertFree(workspace: Workspace, path: string): Promise<void> {
  const place = await workspace.locate(path);
  if (isAbsolute(place)) throw new PatchError(`${path} can be read but not changed.`);
  const file = await workspace.openFile(path).catch(() => undefined);
  await file?.close();
  if (file !== undefined) throw new PatchError(`${path} already exists.`);
}

function getPaths(step: PatchStep): readonly string[] {
  return step.kind === "update" && step.moveTo !== undefined ? [step.path, step.moveTo] : [step.path];
}

async function getClaims(workspace: Workspace, patch: string, facts: RunFacts): Promise<readonly Claim[]> {
  const paths = parseSteps(patch).flatMap(getPaths);
  return (await Promise.all(paths.map((path) => getWriteClaims(workspace, path, facts)))).flat();
}

/** Returns the diff of each file. A moved file is shown in full at its new path. */
async function createSubject(workspace: Workspace, patch: string, facts: RunFacts): Promise<ApprovalSubject> {
  const parts: string[] = [];
  for (const step of parseSteps(patch)) {
    let text = "";
    const after = async (before: string): Promise<string> => {
      if (step.kind === "update") text = await previewChanges(step.path, before, step.changes, facts);
      if (step.kind === "add") text = step.text;
      return text;
    };
    parts.push((await describeChange(workspace, step.path, facts, after)).action);
    if (step.kind === "delete") parts.push("deleted");
    if (step.kind !== "update" || step.moveTo === undefined) continue;
    parts.push(
      `moved to ${step.moveTo}`,
      (await describeChange(workspace, step.moveTo, facts, () => text)).action,
    );
  }
  return { action: parts.join("\n"), cwd: workspace.dir };
}

/** Returns a file's content after the changes, for an approval request. */
async function previewChanges(
  path: string,
  before: string,
  changes: readonly PatchChange[],
  options: TextWorkOptions,
): Promise<string> {
  try {
    return await patchText(path, before, changes, options);
  } catch (error) {
    if (error instanceof PatchError) return `${before}${CANNOT_BE_MADE}`;
    throw error;
  }
}

/** A patch that cannot be parsed has no claims. The tool reports the error when it runs. */
function parseSteps(patch: string): readonly PatchStep[] {
  try {
    return parsePatch(patch);
  } catch {
    return [];
  }
}
