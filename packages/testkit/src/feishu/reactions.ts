import { isRaw } from "../raw.ts";
import { type ApiReply, ok, refuse } from "./reply.ts";

interface Reaction {
  readonly messageId: string;
  readonly emoji: string;
}

/** An app's reactions to messages. */
export class Reactions {
  readonly #appId: string;
  readonly #all = new Map<string, Reaction>();
  #count = 0;

  constructor(appId: string) {
    this.#appId = appId;
  }

  /** Returns the emoji types of a message's reactions. */
  on(messageId: string): string[] {
    return this.#of(messageId).map(([, { emoji }]) => emoji);
  }

  add(messageId: string, body: unknown): ApiReply {
    const type = isRaw(body) ? body["reaction_type"] : undefined;
    const emoji = isRaw(type) ? type["emoji_type"] : undefined;
    if (typeof emoji !== "string" || !/^[A-Za-z0-9_]+$/.test(emoji))
      return refuse(231001, "reaction type is invalid.");
    this.#count += 1;
    const id = `reaction_${this.#count}`;
    this.#all.set(id, { messageId, emoji });
    return ok(this.#described(id, emoji));
  }

  remove(id: string): ApiReply {
    return this.#all.delete(id) ? ok({ reaction_id: id }) : refuse(231010, "reaction not found");
  }

  list(messageId: string): ApiReply {
    const items = this.#of(messageId).map(([id, { emoji }]) => this.#described(id, emoji));
    return ok({ items, has_more: false });
  }

  #of(messageId: string): [id: string, reaction: Reaction][] {
    return [...this.#all].filter(([, reaction]) => reaction.messageId === messageId);
  }

  #described(id: string, emoji: string) {
    const operator = { operator_id: this.#appId, operator_type: "app" };
    return { reaction_id: id, operator, reaction_type: { emoji_type: emoji } };
  }
}
