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
  options: 25,
  option: 100,
  fields: 5,
  formLabel: 45,
  description: 100,
  fieldText: 4_000,
  label: 80,
  pollAnswers: 10,
  pollQuestion: 300,
  pollAnswer: 55,
  pollHours: 768,
  files: 10,
  fileBytes: 10 * 1024 * 1024,
};

const componentType = { row: 1, button: 2, menu: 3, textInput: 4, label: 18 } as const;

/** A file of a request that sends one. */
export interface SentFile {
  readonly name: string;
  readonly mimeType: string;
  readonly content: Uint8Array<ArrayBuffer>;
}

/** A poll as it was asked for. */
export interface SentPoll {
  readonly question: string;
  readonly options: readonly string[];
  readonly multiple: boolean;
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
  const refused =
    checkMentions(mentions) ??
    checkComponents(components) ??
    checkAttachments(body, files) ??
    checkPoll(body, isEdit);
  if (refused !== undefined) return refused;
  const isEmpty = typeof content !== "string" || content.trim() === "";
  const hasMore =
    (Array.isArray(embeds) && embeds.length > 0) || files.length > 0 || pollIn(body) !== undefined;
  return isEmpty && !hasMore && !(isEdit && content === undefined) ? refusals.emptyMessage() : undefined;
}

/** What a message's poll asks; undefined where there is none. */
export function pollIn({ poll }: Raw): SentPoll | undefined {
  if (!isRaw(poll)) return undefined;
  const { question, answers, allow_multiselect: multiple } = poll;
  const textIn = (media: unknown) => (isRaw(media) ? String(media["text"]) : "");
  const options = (Array.isArray(answers) ? answers : []).filter(isRaw);
  return {
    question: textIn(question),
    options: options.map(({ poll_media: media }) => textIn(media)),
    multiple: multiple === true,
  };
}

function checkPoll(body: Raw, isEdit: boolean): ApiReply | undefined {
  const poll = pollIn(body);
  if (poll === undefined) return undefined;
  const wrong = (why: string) => refusals.invalidForm("poll", why);
  if (isEdit) return wrong("Polls cannot be changed.");
  if (!isText(poll.question, limits.pollQuestion)) return wrong("Must be between 1 and 300 in length.");
  if (poll.options.length < 1 || poll.options.length > limits.pollAnswers)
    return wrong("Must be between 1 and 10 in length.");
  const hours = isRaw(body["poll"]) ? Number(body["poll"]["duration"] ?? 24) : 24;
  if (!Number.isInteger(hours) || hours < 1 || hours > limits.pollHours)
    return wrong("int value should be between 1 and 768.");
  return poll.options.every((option) => isText(option, limits.pollAnswer))
    ? undefined
    : wrong("Must be between 1 and 55 in length.");
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

/** Rows of buttons, or of one menu: other components are not known here. */
function checkComponents(components: unknown): ApiReply | undefined {
  if (components === undefined || components === null) return undefined;
  const wrong = (why: string) => refusals.invalidForm("components", why);
  if (!Array.isArray(components) || components.length > limits.rows)
    return wrong("Must be 5 or fewer in length.");
  const ids = new Set<unknown>();
  for (const row of components) {
    const inRow = isRaw(row) && row["type"] === componentType.row ? row["components"] : undefined;
    if (!Array.isArray(inRow) || inRow.length === 0 || inRow.length > limits.buttonsOfRow)
      return wrong("Must be between 1 and 5 in length.");
    for (const component of inRow) {
      const isMenu = isRaw(component) && component["type"] === componentType.menu;
      const refused = isMenu ? checkMenu(component, inRow.length) : checkButton(component);
      if (refused !== undefined) return wrong(refused);
      ids.add(isRaw(component) ? component["custom_id"] : undefined);
    }
  }
  const count = components.flatMap((row) => (isRaw(row) ? row["components"] : [])).length;
  return ids.size < count ? wrong("Component custom id cannot be duplicated") : undefined;
}

function checkMenu({ custom_id: customId, options }: Raw, inRow: number): string | undefined {
  if (inRow > 1) return "A select menu takes up a whole row.";
  if (!isText(customId, limits.customId)) return "Must be between 1 and 100 in length.";
  if (!Array.isArray(options) || options.length === 0 || options.length > limits.options)
    return "Must be between 1 and 25 in length.";
  const values = options.filter(isRaw).map(({ value }) => value);
  if (new Set(values).size < options.length) return "The specified option value is already used.";
  const isRight = options.every(
    (option) =>
      isRaw(option) && isText(option["label"], limits.option) && isText(option["value"], limits.option),
  );
  return isRight ? undefined : "Must be between 1 and 100 in length.";
}

/** What Discord refuses about the data of a form; undefined for one that it takes. */
export function checkForm(data: unknown): ApiReply | undefined {
  const wrong = (why: string) => refusals.invalidForm("data", why);
  if (!isRaw(data) || !isText(data["custom_id"], limits.customId))
    return wrong("Must be between 1 and 100 in length.");
  const { title, components } = data;
  if (!isText(title, limits.formLabel)) return wrong("Must be between 1 and 45 in length.");
  if (!Array.isArray(components) || components.length === 0 || components.length > limits.fields)
    return wrong("Must be between 1 and 5 in length.");
  return components.every(isField) ? undefined : wrong("Is no label with a field of text.");
}

/** A label with a field of text in it. */
function isField(label: unknown): boolean {
  if (!isRaw(label) || label["type"] !== componentType.label || !isText(label["label"], limits.formLabel))
    return false;
  const { component: field, description } = label;
  const isDescribed = description === undefined || isText(description, limits.description);
  return (
    isDescribed &&
    isRaw(field) &&
    field["type"] === componentType.textInput &&
    isText(field["custom_id"], limits.customId) &&
    (field["style"] === 1 || field["style"] === 2) &&
    Number(field["max_length"] ?? 1) <= limits.fieldText
  );
}

function isText(value: unknown, most: number): value is string {
  return typeof value === "string" && value !== "" && [...value].length <= most;
}

function checkButton(button: unknown): string | undefined {
  if (!isRaw(button) || button["type"] !== componentType.button) return "Value of field type must be 2.";
  const { style, label, custom_id: customId } = button;
  if (typeof style !== "number" || style < 1 || style > 4)
    return "Value of field style must be one of 1, 2, 3, 4.";
  if (typeof label !== "string" || label === "" || [...label].length > limits.label)
    return "Must be 80 or fewer in length.";
  if (typeof customId !== "string" || customId === "" || customId.length > limits.customId)
    return "Must be between 1 and 100 in length.";
  return undefined;
}
