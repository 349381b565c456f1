import { reasonOf } from "@signalbox/agent-core";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "./define.ts";
import { type FitImage, readImage } from "./files/image-file.ts";
import { getReadClaims, getVisibleWorkspace } from "./files/places.ts";
import { createLabelledWorkspace } from "./labels/labelled-workspace.ts";
import { failure, fileFailure, success } from "./result.ts";
import type { OpenFile } from "./workspace/open-file.ts";
import type { Workspace } from "./workspace/workspace.ts";

/** A question about an image. */
export interface ImageQuestion {
  readonly mimeType: string;
  /** The image data in base64. */
  readonly data: string;
  readonly question: string;
}

export interface ImageToolOptions {
  readonly workspace: Workspace;
  /** Default: images are not resized. */
  readonly fitImage?: FitImage | undefined;
  /** Sends the question to a vision model. If this rejects, the calling model sees the error message. */
  readonly describeImage: (
    image: ImageQuestion,
    call: { readonly sessionKey: string; readonly signal: AbortSignal },
  ) => Promise<string>;
}

const DESCRIBE = "Describe this image, and quote every text in it word for word.";

/** Creates the tool `image`, which asks a vision model a question about an image file. */
export function createImageTool({ workspace, fitImage, describeImage }: ImageToolOptions): ToolDefinition {
  const labelled = createLabelledWorkspace(workspace);
  return defineTool({
    name: "image",
    description:
      "Have a vision model answer `question` about an image file (PNG, JPEG, GIF, WebP), or describe the image if there is no question. For images that `read` cannot show you.",
    inputSchema: z.object({
      file_path: z.string().min(1).describe("Path, as for `read`"),
      question: z.string().min(1).max(2_000).optional(),
    }),
    effects: "none",
    execution: "parallel",
    claims: (args, facts) => getReadClaims(workspace, args.file_path, facts),
    async run({ args: { file_path: path, question = DESCRIBE } }, { signal }, { run, record }) {
      let file: OpenFile;
      try {
        file = await getVisibleWorkspace(workspace, run.facts).openFile(path);
      } catch (error) {
        return fileFailure(error);
      }
      try {
        labelled.recordRead(file.path, file.changedAt, run);
        const image = await readImage(file, fitImage, signal);
        const [block] = image.content;
        if (block?.type !== "image" || block.source.kind !== "base64") return image;
        const { mimeType, source } = block;
        return await toResult(() =>
          describeImage({ mimeType, data: source.data, question }, { sessionKey: record.sessionKey, signal }),
        );
      } catch (error) {
        return fileFailure(error);
      } finally {
        await file.close();
      }
    },
  });
}

async function toResult(describe: () => Promise<string>) {
  try {
    return success(await describe(), {});
  } catch (error) {
    return failure(`The image could not be described: ${reasonOf(error)}`);
  }
}
