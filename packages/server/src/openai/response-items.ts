import { z } from "zod";
import type { ScopedService } from "../scope.ts";
import { MOST_MESSAGES } from "./body.ts";
import { content, readContent } from "./content.ts";
import { list } from "./list.ts";
import { type ClientMessage, RequestProblem } from "./request.ts";

/** Items of a conversation; those that are no message are told from it by their type. */
const item = z.object({
  type: z.string().optional(),
  role: z.enum(["system", "developer", "user", "assistant"]).optional(),
  content,
  id: z.string().nullish(),
});

/** What a request of `/v1/responses` says: text, or the items of a conversation. */
export const responsesInput = z.union([z.string(), list(item, { min: 1, max: MOST_MESSAGES })]);

/** The id of the item that holds the answer to a message. */
export function itemId(messageId: string): string {
  return messageId.replace(/^resp_/, "msg_");
}

/** @throws RequestProblem for an item that is no message, or is not kept here */
export async function readItems(
  input: z.output<typeof responsesInput>,
  service: ScopedService,
): Promise<ClientMessage[]> {
  if (typeof input === "string") return [{ role: "user", text: input, attachments: [], param: "input" }];
  const messages = await Promise.all(input.map((one, index) => readItem(one, `input[${index}]`, service)));
  return messages.flatMap((message) => message ?? []);
}

async function readItem(
  { type = "message", role, content: said, id }: z.output<typeof item>,
  param: string,
  service: ScopedService,
): Promise<ClientMessage | undefined> {
  switch (type) {
    case "message": {
      if (role === undefined) throw new RequestProblem("A message needs a role.", param);
      const { text, attachments } = readContent(said, `${param}.content`);
      return { role: role === "developer" ? "system" : role, text, attachments, param };
    }
    case "item_reference":
      return { role: "assistant", text: await referenced(id, param, service), attachments: [], param };
    // What the agent's own turns held besides text means nothing to the next one.
    case "reasoning":
      return undefined;
    default:
      throw new RequestProblem(`Only messages are supported, not ${type}.`, param);
  }
}

/** Clients that believe their answers to be kept name them in the place of sending them again. */
async function referenced(
  id: string | null | undefined,
  param: string,
  service: ScopedService,
): Promise<string> {
  const text = await service.answer((id ?? "").replace(/^msg_/, "resp_"));
  if (text === undefined) throw new RequestProblem(`There is no item ${id}. Send the message itself.`, param);
  return text;
}
