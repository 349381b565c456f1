import { digestId } from "../shared/digest.ts";
import { entryOf } from "../shared/json.ts";

/** What a call id may look like, by wire format. A format that is absent takes any. */
const SHAPES: Readonly<
  Record<string, { readonly valid: RegExp; readonly prefix: string; readonly length: number }>
> = {
  "anthropic-messages": { valid: /^[a-zA-Z0-9_-]{1,64}$/, prefix: "toolu_", length: 24 },
  "openai-responses": { valid: /^[a-zA-Z0-9_-]{1,64}$/, prefix: "call_", length: 24 },
  "openai-chat": { valid: /^[a-zA-Z0-9_-]{1,40}$/, prefix: "call_", length: 24 },
  "mistral-chat": { valid: /^[a-zA-Z0-9]{9}$/, prefix: "", length: 9 },
};

/**
 * A call id as the wire format takes it: the same where it fits, else one made from its hash, so that a call and its
 * result agree without knowing of each other.
 */
export function callIdFor(api: string, id: string): string {
  const shape = entryOf(SHAPES, api);
  if (shape === undefined || shape.valid.test(id)) return id;
  return shape.prefix + digestId(id, shape.length);
}
