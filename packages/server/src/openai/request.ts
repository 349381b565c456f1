import type { HeldPicture, TurnSampling } from "@signalbox/channel";
import { type ClientAttachment, type ClientTurn, ONCE, type Submission } from "../service.ts";
import { MOST_WORDS, TOO_MANY_WORDS } from "./body.ts";

/** What is wrong with a request, and which parameter it is about. */
export class RequestProblem extends Error {
  readonly param: string;
  readonly status: 400 | 413;

  constructor(message: string, param: string, status: 400 | 413 = 400) {
    super(message);
    this.param = param;
    this.status = status;
  }
}

/** A message of the client, whatever shape it came in. */
export interface ClientMessage {
  readonly role: "system" | "user" | "assistant";
  readonly text: string;
  readonly attachments: readonly ClientAttachment[];
  /** The parameter that holds it. */
  readonly param: string;
}

/** What both kinds of requests come down to. */
export interface ClientRequest {
  readonly agent: string;
  /** Names the peer whose conversation the gateway keeps; without it the client's own messages count. */
  readonly user: string | undefined;
  readonly instructions: readonly string[];
  readonly messages: readonly ClientMessage[];
  readonly sampling: TurnSampling;
  /** The parameter that holds the messages. */
  readonly param: string;
}

/**
 * With `user` the gateway keeps the conversation and takes the last message alone, which may be a chat command;
 * without, the client's messages are the conversation, and its text is for the model.
 *
 * @throws RequestProblem where the last message is nothing to answer, or what looked like attachments were words
 */
export function submissionOf(request: ClientRequest, id: string): Submission {
  const { agent, user, messages, sampling, param } = request;
  const last = messages.at(-1);
  if (last?.role !== "user" || (last.text.trim() === "" && last.attachments.length === 0))
    throw new RequestProblem("The last message must be a user message with text or an image.", param);
  const system = messages.flatMap(({ role, text }) => (role === "system" ? [text] : []));
  const instructions = [...request.instructions, ...system].filter((text) => text !== "").join("\n\n");
  // Of a conversation that is kept, the client's copy of the earlier messages says nothing new.
  const history = user === undefined ? historyOf(messages.slice(0, -1)) : [];
  const names = last.attachments.map(({ name }) => name);
  const words = JSON.stringify([last.text, instructions, history.map(({ text }) => text), names, sampling]);
  if (words.length > MOST_WORDS) throw new RequestProblem(TOO_MANY_WORDS, param, 413);
  return {
    channel: "api",
    agent,
    conversation: user === undefined ? `${ONCE}${id}` : `user:${user}`,
    id,
    text: last.text,
    ...(last.attachments.length === 0 ? {} : { attachments: last.attachments }),
    ...(instructions === "" ? {} : { instructions }),
    ...(history.length === 0 ? {} : { history }),
    ...(Object.keys(sampling).length === 0 ? {} : { sampling }),
    ...(user === undefined ? { verbatim: true } : {}),
  };
}

/** @throws RequestProblem for an attachment that cannot be told again */
function historyOf(messages: readonly ClientMessage[]): ClientTurn[] {
  return messages.flatMap(({ role, text, attachments, param }): ClientTurn[] => {
    if (role === "system") return [];
    const pictures = attachments.map((attachment) => earlierPicture(attachment, param));
    return [{ role, text, ...(pictures.length === 0 ? {} : { pictures }) }];
  });
}

/** A picture that is in the request itself; of earlier messages nothing is fetched. */
function earlierPicture({ kind, url }: ClientAttachment, param: string): HeldPicture {
  const [, mimeType, data] = /^data:(image\/[\w.+-]+)(?:;[^;,]*)*?;base64,([A-Za-z0-9+/=]+)$/.exec(url) ?? [];
  if (kind === "image" && mimeType !== undefined && data !== undefined) return { mimeType, data };
  throw new RequestProblem(
    "Earlier messages may contain images only as base64 data: URLs, and no other attachments. Or set `user`, so that the gateway keeps the conversation.",
    param,
  );
}
