import { type ChannelErrorCode, isChannelError } from "../contract/errors.ts";
import type { OutboundPart } from "../contract/messages.ts";
import { toPlainText } from "../markdown/plain.ts";

/** One form in which a part can be sent. */
export interface PartForm {
  readonly part: OutboundPart;
  /** The message that the part replies to. */
  readonly replyTo: string | undefined;
}

/** Codes with which a platform refuses content. It may accept the same content in a plainer form. */
const CONTENT_REFUSALS: readonly ChannelErrorCode[] = ["invalid", "unsupported", "too_large"];

/**
 * Sends a part in its given form, and in plainer forms as long as the platform definitely refuses it: Markdown as plain
 * text, an image, recording or video as a file, and then without the reply. Gives up only if the plainest form is
 * refused too.
 *
 * @param send resolves with the id of the message
 * @throws ChannelError of the first form, or of a later one if its outcome is not a refusal
 */
export async function sendPlainerIfRefused(
  form: PartForm,
  send: (form: PartForm) => Promise<string>,
): Promise<string> {
  let current = form;
  let refusal: unknown;
  for (;;) {
    try {
      return await send(current);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refusal ??= error;
      const next = plainerForm(current, error);
      if (next === undefined) throw refusal;
      current = next;
    }
  }
}

function isRefusal(error: unknown): boolean {
  return isChannelError(error) && (error.code === "not_found" || CONTENT_REFUSALS.includes(error.code));
}

function plainerForm({ part, replyTo }: PartForm, error: unknown): PartForm | undefined {
  const isContent = isChannelError(error) && CONTENT_REFUSALS.includes(error.code);
  // The channel itself refuses media beyond its capabilities. Only refusals from the platform have a code.
  const isFinal = part.type === "media" && isChannelError(error) && error.platformCode === undefined;
  const plainer = isContent && !isFinal ? plainerPart(part) : undefined;
  if (plainer !== undefined) return { part: plainer, replyTo };
  const isOfConversation = isChannelError(error) && error.scope !== "message";
  return replyTo === undefined || isOfConversation ? undefined : { part, replyTo: undefined };
}

/** Returns the same content in a plainer form, or `undefined` if the part has none. */
export function plainerPart(part: OutboundPart): OutboundPart | undefined {
  switch (part.type) {
    case "markdown":
      return { type: "text", text: toPlainText(part.text) };
    case "buttons": {
      const text = toPlainText(part.text);
      return text === part.text ? undefined : { ...part, text };
    }
    case "media":
      return part.kind === "file" ? undefined : { ...part, kind: "file", voice: undefined };
    case "text":
    case "poll":
      return undefined;
  }
}
