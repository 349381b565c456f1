import { z } from "zod";
import type { ScopedService } from "../scope.ts";
import { content, readContent } from "./content.ts";
import { list } from "./fail-fast-list.ts";
import { MAX_MESSAGES } from "./read-body.ts";
import { type ClientMessage, InvalidRequestError } from "./submission.ts";

/** An item of a conversation. Items without `type` are messages. */
const item = z.object({
  type: z.string().optional(),
  role: z.enum(["system", "developer", "user", "assistant"]).optional(),
  content,
  id: z.string().nullish(),
});

/** The `input` of `/v1/responses`: text, or the items of a conversation. */
export const responsesInput = z.union([z.string(), list(item, { min: 1, max: MAX_MESSAGES })]);

/** Returns the id of the item that answers a message. */
export function createItemId(messageId: string): string {
  return messageId.replace(/^resp_/, "msg_");
}

/** @throws {InvalidRequestError} for an item that is not a message, or an unknown item reference */
export async function readItems(
  input: z.output<typeof responsesInput>,
  service: ScopedService,
): Promise<ClientMessage[]> {
  if (typeof input === "string") return [{ role: "user", text: input, attachments: [], param: "input" }];
  const messages = await Promise.all(input.map((each, index) => readItem(each, `input[${index}]`, service)));
  return messages.flatMap((message) => message ?? []);
}

async function readItem(
  { type = "message", role, content: value, id }: z.output<typeof item>,
  param: string,
  service: ScopedService,
): Promise<ClientMessage | undefined> {
  switch (type) {
    case "message": {
      if (role === undefined) throw new InvalidRequestError("A message needs a role.", param);
      const { text, attachments } = readContent(value, `${param}.content`);
      return { role: role === "developer" ? "system" : role, text, attachments, param };
    }
    case "item_reference":
      return { role: "assistant", text: await resolveReference(id, param, service), attachments: [], param };
    // Reasoning items belong to another vendor's model, so they are ignored.
    case "reasoning":
      return undefined;
    default:
      throw new InvalidRequestError(`Only messages are supported, not ${type}.`, param);
  }
}

/** Looks up the text of an earlier answer, which clients may reference instead of sending it again. */
async function resolveReference(
  id: string | null | undefined,
  param: string,
  service: ScopedService,
): Promise<string> {
  const text = await service.answer((id ?? "").replace(/^msg_/, "resp_"));
  if (text === undefined)
    throw new InvalidRequestError(`There is no item ${id}. Send the message itself.`, param);
  return text;
}
