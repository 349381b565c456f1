import type { Context } from "hono";
import type { z } from "zod";
import { badRequest, openAiError } from "./errors.ts";

/** Messages of a request, which is far more than any model reads. */
export const MAX_MESSAGES = 5_000;
/** Characters of a request without attachments. Parsing and validating more would block the event loop. */
export const MAX_TEXT = 1_000_000;
/** Shorter `data:` URLs count as text, because a million of them would take as long to parse. */
const MIN_ATTACHMENT = 1_000;
export const TEXT_TOO_LONG = `Apart from attachments, a request has at most ${MAX_TEXT} characters.`;
/** The beginning of a base64 `data:` URL in JSON. */
const DATA_URL = /^"data:[^",]{0,200};base64,/;

/**
 * Reads and validates a body.
 *
 * @returns the raw text and the parsed request, or an error response
 */
export async function readBody<S extends z.ZodType>(
  context: Context,
  schema: S,
): Promise<{ readonly raw: string; readonly request: z.output<S> } | { readonly answer: Response }> {
  const raw = await context.req.text();
  if (hasTooMuchText(raw))
    return {
      answer: openAiError(context, 413, { message: TEXT_TOO_LONG, type: "invalid_request_error" }),
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
  return { answer: badRequest(context, `${param}: ${issue?.message ?? "invalid"}`, param) };
}

/**
 * Measures a body without the strings that look like attachments. Strings that only look like attachments are counted
 * after parsing, in `createSubmission`.
 */
function hasTooMuchText(raw: string): boolean {
  let attached = 0;
  let escaped = raw.indexOf("\\");
  let at = raw.indexOf('"data:');
  while (at >= 0 && at - attached <= MAX_TEXT) {
    const [head] = DATA_URL.exec(raw.slice(at, at + 300)) ?? [];
    const from = at + (head?.length ?? 1);
    const end = raw.indexOf('"', from);
    if (end < 0) break;
    if (escaped >= 0 && escaped < from) escaped = raw.indexOf("\\", from);
    // Some JSON encoders escape slashes, which do not count. Base64 contains no other character that is escaped.
    let slashes = 0;
    while (escaped >= 0 && escaped < end && raw[escaped + 1] === "/" && slashes <= MAX_TEXT) {
      slashes += 1;
      escaped = raw.indexOf("\\", escaped + 2);
    }
    const isPlain = escaped < 0 || escaped > end;
    if (head !== undefined && isPlain && end - at >= MIN_ATTACHMENT) attached += end + 1 - at - slashes;
    at = raw.indexOf('"data:', end);
  }
  return raw.length - attached > MAX_TEXT;
}
