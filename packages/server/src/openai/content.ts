import { z } from "zod";
import type { ClientAttachment } from "../service.ts";
import { list } from "./fail-fast-list.ts";
import { InvalidRequestError } from "./submission.ts";

const part = z.union([
  z.object({ type: z.enum(["text", "input_text", "output_text"]), text: z.string() }),
  z.object({ type: z.literal("refusal"), refusal: z.string() }),
  z.object({ type: z.literal("image_url"), image_url: z.object({ url: z.string() }) }),
  z.object({ type: z.literal("input_image"), image_url: z.string() }),
  z.object({
    type: z.literal("file"),
    file: z.object({ file_data: z.string(), filename: z.string().nullish() }),
  }),
  z.object({ type: z.literal("input_file"), file_data: z.string(), filename: z.string().nullish() }),
  z.object({ type: z.string() }),
]);

/** Content of a message: text, or parts of several types. */
export const content = z.union([z.string(), list(part), z.null()]).optional();

/** Returns the text and the attachments of a message. A `refusal` part counts as text. */
export function readContent(
  value: z.output<typeof content>,
  param: string,
): { readonly text: string; readonly attachments: readonly ClientAttachment[] } {
  if (value === null || value === undefined) return { text: "", attachments: [] };
  if (typeof value === "string") return { text: value, attachments: [] };
  const texts: string[] = [];
  const attachments: ClientAttachment[] = [];
  for (const [index, item] of value.entries()) {
    if ("text" in item) texts.push(item.text);
    else if ("refusal" in item) texts.push(item.refusal);
    else attachments.push(readAttachment(item, `${param}[${index}]`));
  }
  return { text: texts.join(""), attachments };
}

function readAttachment(item: z.output<typeof part>, param: string): ClientAttachment {
  if ("image_url" in item) {
    const url = typeof item.image_url === "string" ? item.image_url : item.image_url.url;
    return createAttachment("image", url, undefined, param);
  }
  if ("file" in item) return createAttachment("file", item.file.file_data, item.file.filename, param);
  if ("file_data" in item) return createAttachment("file", item.file_data, item.filename, param);
  throw new InvalidRequestError(`Parts of type ${item.type} are not supported.`, param);
}

/** @param url a `data:` URL with the content, or an `http:` or `https:` URL */
function createAttachment(
  kind: "image" | "file",
  url: string,
  name: string | null | undefined,
  param: string,
): ClientAttachment {
  if (!/^(data:[^,]*,|https?:\/\/)/.test(url))
    throw new InvalidRequestError("Send a data:, http: or https: URL.", param);
  return { kind, url, ...(name ? { name } : {}) };
}
