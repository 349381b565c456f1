import type { TurnSampling } from "@signalbox/channel";
import type { Context } from "hono";
import type { z } from "zod";
import type { ScopedService } from "../scope.ts";
import { type ClientAttachment, ONCE, type Submission } from "../service.ts";
import { openAiError } from "./errors.ts";

/** Agents as models. */
export const PREFIX = "signalbox/";

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

/** What a conversation has, in messages: far more than any model reads. */
export const MOST_MESSAGES = 5_000;
/** Characters of a body apart from what is attached: it is read in one piece, which nobody else is to wait for. */
const MOST_WORDS = 1_000_000;
/** A shorter attachment counts as words: a million of them would take as long to read. */
const SHORTEST_ATTACHED = 1_000;
const TOO_MANY_WORDS = `Apart from attachments, a request has at most ${MOST_WORDS} characters.`;
/** How a `data:` URL in base64 begins in JSON. */
const ATTACHED = /^"data:[^",]{0,200};base64,/;

/** The body as text and as the schema has it, or the answer that says what is wrong with it. */
export async function readBody<S extends z.ZodType>(
  context: Context,
  schema: S,
): Promise<{ readonly raw: string; readonly request: z.output<S> } | { readonly answer: Response }> {
  const raw = await context.req.text();
  if (wordsIn(raw) > MOST_WORDS)
    return {
      answer: openAiError(context, 413, { message: TOO_MANY_WORDS, type: "invalid_request_error" }),
    };
  let body: unknown;
  try {
    body = JSON.parse(raw);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const message = `The body is not valid JSON: ${error.message}`;
    return { answer: openAiError(context, 400, { message, type: "invalid_request_error" }) };
  }
  const parsed = schema.safeParse(body);
  if (parsed.success) return { raw, request: parsed.data };
  const [issue] = parsed.error.issues;
  const param = issue?.path.join(".") ?? "";
  const message = `${param}: ${issue?.message ?? "wrong"}`;
  return { answer: openAiError(context, 400, { message, type: "invalid_request_error", param }) };
}

/**
 * The characters of a body that look like no attachments, or more than there may be; the texts among those that do are
 * counted once they are read.
 */
function wordsIn(raw: string): number {
  let attached = 0;
  let escaped = raw.indexOf("\\");
  let at = raw.indexOf('"data:');
  while (at >= 0 && at - attached <= MOST_WORDS) {
    const [head] = ATTACHED.exec(raw.slice(at, at + 300)) ?? [];
    const from = at + (head?.length ?? 1);
    const end = raw.indexOf('"', from);
    if (end < 0) break;
    if (escaped >= 0 && escaped < from) escaped = raw.indexOf("\\", from);
    // Some writers of JSON escape slashes. Other escapes stand in no base64, and all of them take long to read.
    let slashes = 0;
    while (escaped >= 0 && escaped < end && raw[escaped + 1] === "/" && slashes <= MOST_WORDS) {
      slashes += 1;
      escaped = raw.indexOf("\\", escaped + 2);
    }
    const isPlain = escaped < 0 || escaped > end;
    if (head !== undefined && isPlain && end - at >= SHORTEST_ATTACHED) attached += end + 1 - at - slashes;
    at = raw.indexOf('"data:', end);
  }
  return raw.length - attached;
}

/** The agent that a model names, with or without its prefix. */
export function agentOf(service: ScopedService, model: string): { readonly id: string } | undefined {
  return service.agents().find((one) => PREFIX + one.id === model || one.id === model);
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
    throw new RequestProblem("The last message must be a user message with text or a picture.", param);
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

type Turn = NonNullable<Submission["history"]>[number];

/** @throws RequestProblem for an attachment that cannot be told again */
function historyOf(messages: readonly ClientMessage[]): Turn[] {
  return messages.flatMap(({ role, text, attachments, param }): Turn[] => {
    if (role === "system") return [];
    const pictures = attachments.map((attachment) => earlierPicture(attachment, param));
    return [{ role, text, ...(pictures.length === 0 ? {} : { pictures }) }];
  });
}

/** A picture that is in the request itself; of earlier messages nothing is fetched or kept as a file. */
function earlierPicture(
  { kind, url }: ClientAttachment,
  param: string,
): NonNullable<Turn["pictures"]>[number] {
  const [, mimeType, data] = /^data:(image\/[\w.+-]+)(?:;[^;,]*)*?;base64,([A-Za-z0-9+/=]+)$/.exec(url) ?? [];
  if (kind === "image" && mimeType !== undefined && data !== undefined) return { mimeType, data };
  throw new RequestProblem(
    "Earlier messages may have pictures as data: URLs in base64, and nothing else. Name a `user` whose conversation is kept.",
    param,
  );
}
