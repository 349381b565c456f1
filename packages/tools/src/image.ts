import { reasonOf } from "@signalbox/agent-core";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "./define.ts";
import { fileFailure } from "./files/failure.ts";
import { readClaims } from "./files/identity-files.ts";
import { type FitPicture, readPicture } from "./files/picture.ts";
import { assertVisible } from "./files/places.ts";
import { labelledWorkspace } from "./labels/labelled-workspace.ts";
import { failure, success } from "./result.ts";
import type { OpenFile } from "./workspace/open-file.ts";
import type { Workspace } from "./workspace/workspace.ts";

/** A picture, and what is to be found out about it. */
export interface PictureQuestion {
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
  readonly question: string;
}

export interface ImageToolOptions {
  readonly workspace: Workspace;
  /** Default: pictures are not made smaller. */
  readonly fitPicture?: FitPicture | undefined;
  /** Has a model that sees look at a picture, and returns its answer. Its errors are told to the model that asks. */
  readonly look: (
    picture: PictureQuestion,
    call: { readonly sessionKey: string; readonly signal: AbortSignal },
  ) => Promise<string>;
}

const DESCRIBE = "Describe it, with every text that is in it, word for word.";

/** `image`: what is on a picture, as another model sees it. No effects; the same files as for `read`. */
export function createImageTool({ workspace, fitPicture, look }: ImageToolOptions): ToolDefinition {
  const words = labelledWorkspace(workspace);
  return defineTool({
    name: "image",
    description:
      "Have a vision model look at an image (PNG, JPEG, GIF, WebP) and answer `question` or, without one, describe it. For images that `read` cannot show you.",
    inputSchema: z.object({
      file_path: z.string().min(1).describe("As for read"),
      question: z.string().min(1).max(2_000).optional(),
    }),
    effects: "none",
    execution: "parallel",
    claims: (args) => readClaims(workspace, args.file_path),
    async run({ args: { file_path: path, question = DESCRIBE } }, { signal }, { run, record }) {
      let file: OpenFile;
      try {
        file = await workspace.openFile(path);
      } catch (error) {
        return fileFailure(error);
      }
      try {
        assertVisible(path, file.displayPath, run.facts);
        words.read(file.path, file.changedAt, run);
        const picture = await readPicture(file, fitPicture, signal);
        const [block] = picture.content;
        if (block?.type !== "image" || block.source.kind !== "base64") return picture;
        const { mimeType, source } = block;
        return await answered(() =>
          look({ mimeType, data: source.data, question }, { sessionKey: record.sessionKey, signal }),
        );
      } catch (error) {
        return fileFailure(error);
      } finally {
        await file.close();
      }
    },
  });
}

async function answered(ask: () => Promise<string>) {
  try {
    return success(await ask(), {});
  } catch (error) {
    return failure(`The image could not be looked at: ${reasonOf(error)}`);
  }
}
