import { isRaw, type Raw } from "../raw.ts";
import { type ApiReply, refusals } from "./reply.ts";

/** Sources: Discord's OpenAPI document, and its pages on messages, on components and on uploads. */
const limits = {
  content: 2_000,
  embeds: 10,
  nonce: 25,
  rows: 5,
  buttonsOfRow: 5,
  customId: 100,
  label: 80,
  files: 10,
  fileBytes: 10 * 1024 * 1024,
};

/** A file of a request that sends one. */
export interface SentFile {
  readonly name: string;
  readonly mimeType: string;
  readonly content: Uint8Array<ArrayBuffer>;
}

/** What Discord refuses about the body of a message; undefined for one that it takes. `part`: of an edit. */
export function checkMessage(
  body: Raw,
  files: readonly SentFile[],
  { isEdit }: { readonly isEdit: boolean },
): ApiReply | undefined {
  const { content, nonce, embeds, components, allowed_mentions: mentions } = body;
  if (content !== undefined && content !== null && typeof content !== "string")
    return refusals.invalidForm("content", "Could not interpret as string.");
  if (typeof content === "string" && [...content].length > limits.content)
    return refusals.invalidForm("content", `Must be ${limits.content} or fewer in length.`);
  if (nonce !== undefined && !isNonce(nonce))
    return refusals.invalidForm("nonce", `Must be ${limits.nonce} or fewer in length.`);
  if (Array.isArray(embeds) && embeds.length > limits.embeds)
    return refusals.invalidForm("embeds", `Must be ${limits.embeds} or fewer in length.`);
  if (files.length > limits.files)
    return refusals.invalidForm("attachments", `Must be ${limits.files} or fewer in length.`);
  if (files.some((file) => file.content.byteLength > limits.fileBytes)) return refusals.tooLarge();
  const refused = checkMentions(mentions) ?? checkComponents(components) ?? checkAttachments(body, files);
  if (refused !== undefined) return refused;
  const isEmpty = typeof content !== "string" || content.trim() === "";
  const hasMore = (Array.isArray(embeds) && embeds.length > 0) || files.length > 0;
  return isEmpty && !hasMore && !(isEdit && content === undefined) ? refusals.emptyMessage() : undefined;
}

function isNonce(nonce: unknown): boolean {
  return Number.isInteger(nonce) || (typeof nonce === "string" && nonce.length <= limits.nonce);
}

function checkMentions(mentions: unknown): ApiReply | undefined {
  if (mentions === undefined || mentions === null) return undefined;
  const parse = isRaw(mentions) ? (mentions["parse"] ?? []) : undefined;
  const isKnown = Array.isArray(parse) && parse.every((one) => ["roles", "users", "everyone"].includes(one));
  return isKnown
    ? undefined
    : refusals.invalidForm("allowed_mentions", "Value must be one of the known ones.");
}

function checkAttachments({ attachments }: Raw, files: readonly SentFile[]): ApiReply | undefined {
  if (attachments === undefined) return undefined;
  const isKnown =
    Array.isArray(attachments) &&
    attachments.every((one) => isRaw(one) && files[Number(one["id"])] !== undefined);
  return isKnown ? undefined : refusals.invalidForm("attachments", "There is no file of that id.");
}

/** Rows of buttons: other components are not known here. */
function checkComponents(components: unknown): ApiReply | undefined {
  if (components === undefined || components === null) return undefined;
  const wrong = (why: string) => refusals.invalidForm("components", why);
  if (!Array.isArray(components) || components.length > limits.rows)
    return wrong("Must be 5 or fewer in length.");
  const ids = new Set<unknown>();
  for (const row of components) {
    const buttons = isRaw(row) && row["type"] === 1 ? row["components"] : undefined;
    if (!Array.isArray(buttons) || buttons.length === 0 || buttons.length > limits.buttonsOfRow)
      return wrong("Must be between 1 and 5 in length.");
    for (const button of buttons) {
      const refused = checkButton(button);
      if (refused !== undefined) return wrong(refused);
      ids.add(isRaw(button) ? button["custom_id"] : undefined);
    }
  }
  const count = components.flatMap((row) => (isRaw(row) ? row["components"] : [])).length;
  return ids.size < count ? wrong("Component custom id cannot be duplicated") : undefined;
}

function checkButton(button: unknown): string | undefined {
  if (!isRaw(button) || button["type"] !== 2) return "Value of field type must be 2.";
  const { style, label, custom_id: customId } = button;
  if (typeof style !== "number" || style < 1 || style > 4)
    return "Value of field style must be one of 1, 2, 3, 4.";
  if (typeof label !== "string" || label === "" || [...label].length > limits.label)
    return "Must be 80 or fewer in length.";
  if (typeof customId !== "string" || customId === "" || customId.length > limits.customId)
    return "Must be between 1 and 100 in length.";
  return undefined;
}
