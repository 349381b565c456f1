import { isAcceptedImage, readImageInfo, reasonOf, type ToolResult } from "@signalbox/agent-core";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "./define.ts";
import { createIdentityGuard } from "./files/identity-files.ts";
import type { FitImage } from "./files/image-file.ts";
import { getVisibleWorkspace, getWriteClaims } from "./files/places.ts";
import { acquireWriteLock } from "./files/write-lock.ts";
import { createLabelledWorkspace } from "./labels/labelled-workspace.ts";
import { failure, fileFailure, success } from "./result.ts";
import type { Workspace } from "./workspace/workspace.ts";

/** A request for a new image. */
export interface ImageRequest {
  readonly prompt: string;
  readonly shape: "square" | "landscape" | "portrait";
}

export interface GenerateImageToolOptions {
  readonly workspace: Workspace;
  /** Resizes images that are larger than models accept. Default: such images are not shown. */
  readonly fitImage?: FitImage | undefined;
  /** Generates an image and pays for it. If this rejects, the calling model sees the error message. */
  readonly generateImage: (
    request: ImageRequest,
    call: { readonly sessionKey: string; readonly signal: AbortSignal },
  ) => Promise<Uint8Array>;
}

/** Maximum size of a generated image, in bytes. */
const MAX_BYTES = 25_000_000;

/** Creates the tool `generate_image`, which stores a new image in the workspace and shows it to the model. */
export function createGenerateImageTool(options: GenerateImageToolOptions): ToolDefinition {
  const { workspace, fitImage, generateImage } = options;
  const labelled = createLabelledWorkspace(workspace);
  return defineTool({
    name: "generate_image",
    description:
      "Generate an image from a description, and store it as a new file. Each call costs money. To send the image, attach the file to your reply.",
    inputSchema: z.object({
      prompt: z.string().min(1).max(4_000).describe("Complete description of the image"),
      file_path: z
        .string()
        .regex(/\.(png|jpe?g|webp)$/i, "must end with .png, .jpg or .webp")
        .describe("Path of the new file, such as images/lamp.png"),
      shape: z.enum(["square", "landscape", "portrait"]).optional().describe("Default: square"),
    }),
    effects: "external",
    claims: (args, facts) => getWriteClaims(workspace, args.file_path, facts),
    async run({ args: { prompt, file_path: path, shape = "square" } }, { signal }, permit) {
      let bytes: Uint8Array;
      try {
        bytes = await generateImage({ prompt, shape }, { sessionKey: permit.record.sessionKey, signal });
      } catch (error) {
        signal.throwIfAborted();
        return failure(`The image could not be generated: ${reasonOf(error)}`);
      }
      const info = readImageInfo(bytes);
      if (info === undefined || bytes.byteLength > MAX_BYTES)
        return failure(
          "The image could not be generated: the service returned something else than an image.",
        );
      const release = await acquireWriteLock(workspace, signal, permit.run.facts.role);
      try {
        const visible = getVisibleWorkspace(workspace, permit.run.facts);
        const written = await visible.writeFile(path, bytes, {
          check: createIdentityGuard(permit),
          before: (place) => labelled.beforeWrite(place, permit),
        });
        await labelled.recordReplacement(written, permit);
        const { mimeType, width = 0, height = 0 } = info;
        const result = success(
          `Stored ${written} (${mimeType}, ${width} × ${height}, ${bytes.byteLength} bytes).`,
          { path: written, bytes: bytes.byteLength },
        );
        return await addImage(result, bytes, info, fitImage, signal);
      } catch (error) {
        return fileFailure(error);
      } finally {
        release();
      }
    },
  });
}

/** Shows the image to the model, if it is small enough or can be resized. */
async function addImage(
  result: ToolResult,
  bytes: Uint8Array,
  info: NonNullable<ReturnType<typeof readImageInfo>>,
  fitImage: FitImage | undefined,
  signal: AbortSignal,
): Promise<ToolResult> {
  const fitted = await fitImage?.(bytes, info, signal);
  const shown =
    fitted ?? (isAcceptedImage(info, bytes.byteLength) ? { mimeType: info.mimeType, bytes } : undefined);
  if (shown === undefined) return result;
  const data = Buffer.from(shown.bytes).toString("base64");
  return {
    ...result,
    content: [
      ...result.content,
      { type: "image", mimeType: shown.mimeType, source: { kind: "base64", data } },
    ],
  };
}
