import { type JsonObject, readImageInfo, type ToolResult } from "@signalbox/agent-core";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "../define.ts";
import { createLabelledWorkspace } from "../labels/labelled-workspace.ts";
import { failure, fileFailure, getContentRoom, success } from "../result.ts";
import type { OpenFile } from "../workspace/open-file.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type FitImage, readImage, readStart } from "./image-file.ts";
import { type LineSlice, readLines } from "./lines.ts";
import { getReadClaims, getVisibleWorkspace } from "./places.ts";
import { readTail } from "./tail.ts";
import { detectEncoding, formatCount, type TextEncoding } from "./text.ts";

export interface ReadToolOptions {
  readonly workspace: Workspace;
  /** Default: images are not resized. */
  readonly fitImage?: FitImage | undefined;
}

/** Share of the result that shows the start of a file that does not fit. The rest shows the end. */
const HEAD_SHARE = 0.7;

/** Creates the tool `read`, which returns text by lines and images as images. It has no effects. */
export function createReadTool({ workspace, fitImage }: ReadToolOptions): ToolDefinition {
  const labelled = createLabelledWorkspace(workspace);
  return defineTool({
    name: "read",
    description:
      "Read a file. A long text is cut to its start and end; to read more, set `offset` (first line, from 1) and `limit` (number of lines). PNG, JPEG, GIF and WebP are returned as images.",
    inputSchema: z.object({
      file_path: z
        .string()
        .min(1)
        .describe("Relative to the working folder, or absolute inside an allowed folder"),
      offset: z.int().positive().optional().describe("First line, from 1"),
      limit: z.int().positive().optional().describe("Number of lines"),
    }),
    effects: "none",
    execution: "parallel",
    claims: (args, facts) => getReadClaims(workspace, args.file_path, facts),
    async run({ args }, context, { run }) {
      let file: OpenFile;
      try {
        file = await getVisibleWorkspace(workspace, run.facts).openFile(args.file_path);
      } catch (error) {
        return fileFailure(error);
      }
      try {
        labelled.recordRead(file.path, file.changedAt, run);
        const sample = await readStart(file);
        if (readImageInfo(sample) !== undefined) return await readImage(file, fitImage, context.signal);
        const encoding = detectEncoding(sample, sample.length === file.size);
        if (encoding === undefined) {
          const text = `${args.file_path} is not text: ${formatCount(file.size)} bytes of binary data. If its content matters, use a program that knows the format.`;
          return failure(text, { bytes: file.size, binary: true });
        }
        return await readText(file, encoding, args, getContentRoom(context), context.signal);
      } catch (error) {
        return fileFailure(error);
      } finally {
        await file.close();
      }
    },
  });
}

interface ReadArgs {
  readonly file_path: string;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

/**
 * Returns the requested lines. If no lines were requested, returns the whole file, or its start and end if it does not
 * fit.
 */
async function readText(
  file: OpenFile,
  encoding: TextEncoding,
  { file_path: path, offset, limit }: ReadArgs,
  room: number,
  signal: AbortSignal,
): Promise<ToolResult> {
  const read = (maxChars: number): Promise<LineSlice> => {
    const range = { offset: offset ?? 1, limit: limit ?? Number.MAX_SAFE_INTEGER, maxChars };
    return readLines(file.handle, encoding, range, signal);
  };
  const part = await read(room);
  if (!part.more || offset !== undefined || limit !== undefined) {
    return toTextResult(part, path, encoding, file.size);
  }
  const head = await read(Math.floor(room * HEAD_SHARE));
  const tail = await readTail(file.handle, encoding, file.size, Math.floor(room * (1 - HEAD_SHARE)));
  return toTextResult(head, path, encoding, file.size, tail);
}

function toTextResult(
  slice: LineSlice,
  path: string,
  encoding: TextEncoding,
  bytes: number,
  tail?: string,
): ToolResult {
  const notes: string[] = [];
  if (encoding !== "utf-8") notes.push(`decoded from ${encoding.toUpperCase()}`);
  if (slice.to < slice.from && slice.total !== undefined && slice.total > 0) {
    const text = `${path} ends at line ${formatCount(slice.total)}; there is no line ${formatCount(slice.from)}.`;
    return failure(text, { totalLines: slice.total });
  }
  if (slice.cutLine) {
    notes.push(
      `line ${formatCount(slice.from)} is too long and was cut; continue with offset=${slice.from + 1}, or split the line with exec`,
    );
  } else if (slice.more) {
    notes.push(
      `lines ${formatCount(slice.from)} to ${formatCount(slice.to)} of a file of ${formatCount(bytes)} bytes; continue with offset=${slice.to + 1}`,
    );
  }
  const whole = slice.from === 1 && !slice.more;
  const details: JsonObject = {
    ...(encoding === "utf-8" ? {} : { encoding }),
    ...(whole ? {} : { from: slice.from, to: slice.to, more: slice.more }),
  };
  if (notes.length === 0) return success(slice.text === "" ? `(${path} is empty)` : slice.text, details);
  const end = slice.text.endsWith("\n") || slice.text === "" ? "" : "\n";
  const rest = tail === undefined ? "]" : `; the end of the file follows]\n${tail}`;
  return success(`${slice.text}${end}[${notes.join("; ")}${rest}`, details);
}
