import { z } from "zod";
import type { ClientAttachment } from "../service.ts";
import { list } from "./list.ts";
import { RequestProblem } from "./request.ts";

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

/** What a message says: text, or parts of several kinds. */
export const content = z.union([z.string(), list(part), z.null()]).optional();

/** The text and the attachments of a message; a refusal is what its assistant said. */
export function readContent(
  value: z.output<typeof content>,
  param: string,
): { readonly text: string; readonly attachments: readonly ClientAttachment[] } {
  if (value === null || value === undefined) return { text: "", attachments: [] };
  if (typeof value === "string") return { text: value, attachments: [] };
  const texts: string[] = [];
  const attachments: ClientAttachment[] = [];
  for (const [index, one] of value.entries()) {
    if ("text" in one) texts.push(one.text);
    else if ("refusal" in one) texts.push(one.refusal);
    else attachments.push(attachment(one, `${param}[${index}]`));
  }
  return { text: texts.join(""), attachments };
}

function attachment(one: z.output<typeof part>, param: string): ClientAttachment {
  if ("image_url" in one) {
    const url = typeof one.image_url === "string" ? one.image_url : one.image_url.url;
    return byAddress("image", url, undefined, param);
  }
  if ("file" in one) return byAddress("file", one.file.file_data, one.file.filename, param);
  if ("file_data" in one) return byAddress("file", one.file_data, one.filename, param);
  throw new RequestProblem(`Parts of type ${one.type} are not supported.`, param);
}

/** A `data:` URL that holds it, or an address that it is fetched from. */
function byAddress(
  kind: "image" | "file",
  url: string,
  name: string | null | undefined,
  param: string,
): ClientAttachment {
  if (!/^(data:[^,]*,|https?:\/\/)/.test(url))
    throw new RequestProblem("Send a data:, http: or https: URL.", param);
  return { kind, url, ...(name ? { name } : {}) };
}
