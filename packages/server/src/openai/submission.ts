import type { InlineImage, TurnSampling } from "@signalbox/channel";
import { type ClientAttachment, type ClientTurn, ONE_OFF_PREFIX, type Submission } from "../service.ts";
import { MAX_TEXT, TEXT_TOO_LONG } from "./read-body.ts";

/** `invalid_value`: a parameter is invalid or not supported. `text_too_long`: the request has too much text. */
export type InvalidRequestCode = "invalid_value" | "text_too_long";

/** A request that the client must change. */
export class InvalidRequestError extends Error {
  override readonly name = "InvalidRequestError";
  readonly code: InvalidRequestCode;
  /** The parameter that is wrong. */
  readonly param: string;

  constructor(message: string, param: string, code: InvalidRequestCode = "invalid_value") {
    super(message);
    this.param = param;
    this.code = code;
  }
}

/** A message of the client, independent of the API. */
export interface ClientMessage {
  readonly role: "system" | "user" | "assistant";
  readonly text: string;
  readonly attachments: readonly ClientAttachment[];
  /** The parameter that contains it. */
  readonly param: string;
}

/** A request of either API. */
export interface ClientRequest {
  readonly agent: string;
  /** The peer. If it is absent, the client manages the conversation itself. */
  readonly user: string | undefined;
  readonly instructions: readonly string[];
  readonly messages: readonly ClientMessage[];
  readonly sampling: TurnSampling;
  /** The parameter that contains the messages. */
  readonly param: string;
}

/**
 * Converts a request to a message. With `user`, the gateway manages the conversation and reads only the last message,
 * which may be a chat command. Without `user`, the client's messages are the conversation, and all text is for the
 * model.
 *
 * @throws {InvalidRequestError} if the last message is not a user message, or the request has too much text
 */
export function createSubmission(request: ClientRequest, id: string): Submission {
  const { agent, user, messages, sampling, param } = request;
  const last = messages.at(-1);
  if (last?.role !== "user" || (last.text.trim() === "" && last.attachments.length === 0))
    throw new InvalidRequestError("The last message must be a user message with text or an image.", param);
  const system = messages.flatMap(({ role, text }) => (role === "system" ? [text] : []));
  const instructions = [...request.instructions, ...system].filter((text) => text !== "").join("\n\n");
  // With `user`, the gateway has its own copy of the earlier messages.
  const history = user === undefined ? createHistory(messages.slice(0, -1)) : [];
  const names = last.attachments.map(({ name }) => name);
  const texts = JSON.stringify([last.text, instructions, history.map(({ text }) => text), names, sampling]);
  if (texts.length > MAX_TEXT) throw new InvalidRequestError(TEXT_TOO_LONG, param, "text_too_long");
  return {
    channel: "api",
    agent,
    conversation: user === undefined ? `${ONE_OFF_PREFIX}${id}` : `user:${user}`,
    id,
    text: last.text,
    ...(last.attachments.length === 0 ? {} : { attachments: last.attachments }),
    ...(instructions === "" ? {} : { instructions }),
    ...(history.length === 0 ? {} : { history }),
    ...(Object.keys(sampling).length === 0 ? {} : { sampling }),
    ...(user === undefined ? { verbatim: true } : {}),
  };
}

/** @throws {InvalidRequestError} for an attachment that earlier messages cannot have */
function createHistory(messages: readonly ClientMessage[]): ClientTurn[] {
  return messages.flatMap(({ role, text, attachments, param }): ClientTurn[] => {
    if (role === "system") return [];
    const images = attachments.map((attachment) => readEarlierImage(attachment, param));
    return [{ role, text, ...(images.length === 0 ? {} : { images }) }];
  });
}

/** Decodes an embedded image. The gateway does not fetch files for earlier messages. */
function readEarlierImage({ kind, url }: ClientAttachment, param: string): InlineImage {
  const [, mimeType, data] = /^data:(image\/[\w.+-]+)(?:;[^;,]*)*?;base64,([A-Za-z0-9+/=]+)$/.exec(url) ?? [];
  if (kind === "image" && mimeType !== undefined && data !== undefined) return { mimeType, data };
  throw new InvalidRequestError(
    "Earlier messages may contain images only as base64 data: URLs, and no other attachments. Alternatively, set `user` to let the gateway manage the conversation.",
    param,
  );
}
