import type { Context } from "hono";
import type { z } from "zod";
import { badRequest, openAiError } from "./errors.ts";

/** What a conversation has, in messages: far more than any model reads. */
export const MOST_MESSAGES = 5_000;
/** Characters of a body apart from what is attached: it is read in one piece, which nobody else is to wait for. */
export const MOST_WORDS = 1_000_000;
/** A shorter attachment counts as words: a million of them would take as long to read. */
const SHORTEST_ATTACHED = 1_000;
export const TOO_MANY_WORDS = `Apart from attachments, a request has at most ${MOST_WORDS} characters.`;
/** How a `data:` URL in base64 begins in JSON. */
const ATTACHED = /^"data:[^",]{0,200};base64,/;

/** The body as text and as the schema has it, or the answer that says what is wrong with it. */
export async function readBody<S extends z.ZodType>(
  context: Context,
  schema: S,
): Promise<{ readonly raw: string; readonly request: z.output<S> } | { readonly answer: Response }> {
  const raw = await context.req.text();
  if (hasTooManyWords(raw))
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
  return { answer: badRequest(context, `${param}: ${issue?.message ?? "wrong"}`, param) };
}

/**
 * Whether more of a body than there may be looks like no attachment; the texts among what does are counted once they
 * are read.
 */
function hasTooManyWords(raw: string): boolean {
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
  return raw.length - attached > MOST_WORDS;
}
