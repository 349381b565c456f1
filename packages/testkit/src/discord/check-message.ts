import { isRaw, type Raw } from "../raw.ts";
import { checkComponents, componentType, hasComponentsV2, isText } from "./components.ts";
import { type ApiReply, refusals } from "./reply.ts";

/** Sources: Discord's OpenAPI document and its pages on messages, components and uploads. */
const limits = {
  content: 2_000,
  embeds: 10,
  nonce: 25,
  customId: 100,
  fields: 5,
  formLabel: 45,
  description: 100,
  fieldText: 4_000,
  pollAnswers: 10,
  pollQuestion: 300,
  pollAnswer: 55,
  pollHours: 768,
  files: 10,
  fileBytes: 10 * 1024 * 1024,
};

/** An uploaded file. */
export interface SentFile {
  readonly name: string;
  readonly mimeType: string;
  readonly content: Uint8Array<ArrayBuffer>;
}

/** A poll in a request. */
export interface SentPoll {
  readonly question: string;
  readonly options: readonly string[];
  readonly multiple: boolean;
}

/** A new message, or an edit of one with text or components V2. */
interface Checked {
  readonly isEdit: boolean;
  readonly isV2?: boolean;
}

/** Returns Discord's refusal of a message's body, or `undefined` if it is valid. */
export function checkMessage(
  body: Raw,
  files: readonly SentFile[],
  { isEdit, isV2 = false }: Checked,
): ApiReply | undefined {
  const asComponents = isV2 || hasComponentsV2(body["flags"]);
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
    (asComponents ? checkLegacyFields(body) : undefined) ??
    checkComponents(components, { isV2: asComponents }) ??
    checkAttachments(body, files) ??
    checkVoice(body, files) ??
    checkPoll(body, isEdit);
  if (refused !== undefined) return refused;
  if (asComponents) return undefined;
  const isEmpty = typeof content !== "string" || content.trim() === "";
  const hasMore =
    (Array.isArray(embeds) && embeds.length > 0) || files.length > 0 || pollIn(body) !== undefined;
  return isEmpty && !hasMore && !(isEdit && content === undefined) ? refusals.emptyMessage() : undefined;
}

/** Source: Discord's page on the flag. Components replace every other field with text. */
function checkLegacyFields(body: Raw): ApiReply | undefined {
  const field = ["content", "embeds", "poll", "sticker_ids"].find((name) => (body[name] ?? null) !== null);
  return field === undefined
    ? undefined
    : refusals.invalidForm(field, "The field cannot be used with MessageFlags.IS_COMPONENTS_V2.");
}

/** Returns the poll in a message body, if any. */
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

/** `IS_VOICE_MESSAGE`. Source: Discord's page on the flag. */
export const VOICE_MESSAGE: number = 1 << 13;

function checkVoice(body: Raw, files: readonly SentFile[]): ApiReply | undefined {
  if ((Number(body["flags"] ?? 0) & VOICE_MESSAGE) === 0) return undefined;
  const { attachments } = body;
  const [file, ...others] = files;
  if (file === undefined || others.length > 0 || !file.mimeType.startsWith("audio/"))
    return refusals.noSingleRecording();
  const hasMore = ["content", "embeds", "poll", "components"].some((name) => (body[name] ?? null) !== null);
  if (hasMore) return refusals.invalidForm("flags", "Voice messages cannot have additional content");
  const [recording] = Array.isArray(attachments) ? attachments : [];
  const isDescribed =
    isRaw(recording) &&
    typeof recording["duration_secs"] === "number" &&
    typeof recording["waveform"] === "string" &&
    Buffer.from(recording["waveform"], "base64").byteLength <= 256;
  return isDescribed ? undefined : refusals.noRecordingMetadata();
}

/** Returns Discord's refusal of a form's data, or `undefined` if it is valid. */
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

/** Returns true for a label that contains a text field. */
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
