import { isRaw, type Raw } from "../raw.ts";
import { type ApiReply, ok, refusals, refuse } from "./reply.ts";

/** A card entity, for tests. */
export interface SeenCard {
  readonly cardId: string;
  readonly isStreaming: boolean;
  /** Streamed texts. `typed` is true if a text extends the previous one, which Feishu shows as typing. */
  readonly streamed: readonly { readonly text: string; readonly typed: boolean }[];
  /** Accepted operations with their times. */
  readonly operations: readonly { readonly name: string; readonly at: number; readonly sequence: number }[];
}

interface StoredCard extends SeenCard {
  card: Raw;
  /** Time at which streaming was last enabled. `undefined` while it is off. */
  streamingSince: number | undefined;
  /** True if Feishu ended streaming and has not reported it yet. */
  timedOut: boolean;
  madeAt: number;
  changed: ((card: string) => void) | undefined;
  readonly streamed: { text: string; typed: boolean }[];
  readonly operations: { name: string; at: number; sequence: number }[];
}

export interface CardRules {
  readonly now: () => number;
  readonly rateLimit: boolean;
  /** True if the app has the scope `cardkit:card:write`. */
  readonly cardKit: boolean;
}

const streamingMs = 600_000;
const entityMs = 14 * 24 * 3_600_000;
const cardBytes = 30 * 1024;
const mostSequence = 2_147_483_647;
const perCardAndSecond = 10;
const perApiAndSecond = 50;

/**
 * Card entities, which exist independently of the messages that show them. Sources: the pages of `cardkit-v1` (limits,
 * sequence, codes) and the page on streaming updates (ten operations per second and card, ten minutes).
 */
export class Cards {
  readonly #rules: CardRules;
  readonly #cards = new Map<string, StoredCard>();
  readonly #calls = new Map<string, number[]>();

  constructor(rules: CardRules) {
    this.#rules = rules;
  }

  get all(): readonly SeenCard[] {
    return [...this.#cards.values()].map((card) => {
      this.#endInTime(card);
      return { ...card, isStreaming: card.streamingSince !== undefined };
    });
  }

  /** Responds to a call under `/cardkit/v1/cards`. Returns `undefined` if the call does not exist. */
  answer(method: string, path: string, body: unknown): ApiReply | undefined {
    const [, cardId, rest = ""] = /^\/cardkit\/v1\/cards(?:\/([^/]+)(?:\/(.+))?)?$/.exec(path) ?? [];
    if (!path.startsWith("/cardkit/v1/cards")) return undefined;
    if (!this.#rules.cardKit) return refusals.missingScope("cardkit:card:write");
    const sent = isRaw(body) ? body : {};
    if (cardId === undefined)
      return method === "POST" ? (this.#limited("create") ?? this.#create(sent)) : undefined;
    const elementId = /^elements\/([^/]+)\/content$/.exec(rest)?.[1];
    if (method === "PUT" && elementId !== undefined)
      return this.#operate("content", cardId, sent, (card) => this.#write(card, elementId, sent["content"]));
    if (method === "PUT" && rest === "")
      return this.#operate("update", cardId, sent, (card) => this.#replace(card, sent["card"]));
    if (method === "PATCH" && rest === "settings")
      return this.#operate("settings", cardId, sent, (card) => this.#set(card, sent["settings"]));
    return undefined;
  }

  /** Returns the card for a message, and reports its later changes to `changed`. A card can be sent once. */
  show(cardId: string, changed: (card: string) => void): string | ApiReply {
    const card = this.#cards.get(cardId);
    if (card === undefined) return refusals.cardFailed("card_id is unknown");
    if (card.changed !== undefined) return refusals.cardFailed("the card entity has been sent");
    card.changed = changed;
    return JSON.stringify(card.card);
  }

  /** Makes everything older. */
  age(ms: number): void {
    for (const card of this.#cards.values()) {
      card.madeAt -= ms;
      if (card.streamingSince !== undefined) card.streamingSince -= ms;
    }
  }

  #create(body: Raw): ApiReply {
    if (body["type"] !== "card_json") return invalid("type");
    const { card, refusal } = readCard(body["data"]);
    if (card === undefined) return refusal;
    const now = this.#rules.now();
    const cardId = `75${String(this.#cards.size + 1).padStart(17, "0")}`;
    this.#cards.set(cardId, {
      cardId,
      card,
      isStreaming: false,
      streamingSince: streams(card) ? now : undefined,
      timedOut: false,
      madeAt: now,
      changed: undefined,
      streamed: [],
      operations: [],
    });
    return ok({ card_id: cardId });
  }

  #operate(
    name: string,
    cardId: string,
    body: Raw,
    run: (card: StoredCard) => ApiReply | undefined,
  ): ApiReply {
    const card = this.#cards.get(cardId);
    if (card === undefined) return refuse(200740, "The card entity does not exist");
    const now = this.#rules.now();
    if (now - card.madeAt > entityMs) return refuse(200750, "The card entity has expired");
    const limited = this.#limited(name) ?? this.#limited(cardId, perCardAndSecond);
    if (limited !== undefined) return limited;
    const { sequence } = body;
    if (
      typeof sequence !== "number" ||
      !Number.isInteger(sequence) ||
      sequence < 1 ||
      sequence > mostSequence
    )
      return invalid("sequence");
    if (sequence <= (card.operations.at(-1)?.sequence ?? 0))
      return refuse(300317, "The sequence number for operating on the card did not increment consecutively");
    this.#endInTime(card);
    const refused = run(card);
    if (refused !== undefined) return refused;
    card.operations.push({ name, at: now, sequence });
    card.changed?.(JSON.stringify(card.card));
    return ok({});
  }

  #write(card: StoredCard, elementId: string, content: unknown): ApiReply | undefined {
    if (typeof content !== "string" || content === "" || content.length > 100_000) return invalid("content");
    if (card.streamingSince === undefined) {
      const first = card.timedOut;
      card.timedOut = false;
      return first ? refuse(200850, "card streaming timeout") : refuse(300309, "streaming mode is closed");
    }
    const element = elementsOf(card.card).find((candidate) => candidate["element_id"] === elementId);
    if (element === undefined || (element["tag"] !== "markdown" && element["tag"] !== "plain_text"))
      return invalid("element_id");
    const before = String(element["content"]);
    const next = { ...element, content };
    const elements = elementsOf(card.card).map((candidate) => (candidate === element ? next : candidate));
    const changed = { ...card.card, body: { elements } };
    if (Buffer.byteLength(JSON.stringify(changed)) > cardBytes) return refusals.cardTooLarge();
    card.card = changed;
    card.streamed.push({ text: content, typed: content.startsWith(before) });
    return undefined;
  }

  #replace(card: StoredCard, given: unknown): ApiReply | undefined {
    if (!isRaw(given) || given["type"] !== "card_json") return invalid("card");
    const { card: next, refusal } = readCard(given["data"]);
    if (next === undefined) return refusal;
    card.card = next;
    card.streamingSince = streams(next) ? this.#rules.now() : undefined;
    return undefined;
  }

  #set(card: StoredCard, settings: unknown): ApiReply | undefined {
    const parsed = parse(settings);
    const config = parsed?.["config"];
    if (!isRaw(config)) return invalid("settings");
    const before = isRaw(card.card["config"]) ? card.card["config"] : {};
    const next = { ...card.card, config: { ...before, ...config } };
    if (!isShared(next)) return refuse(300302, "update_multi property is false");
    card.card = next;
    card.streamingSince = streams(next) ? this.#rules.now() : undefined;
    return undefined;
  }

  #endInTime(card: StoredCard): void {
    if (card.streamingSince === undefined || this.#rules.now() - card.streamingSince < streamingMs) return;
    card.streamingSince = undefined;
    card.timedOut = true;
  }

  /**
   * Counts a call under `key`. Feishu documents no special code for too many operations, so this is the general one.
   */
  #limited(key: string, most = perApiAndSecond): ApiReply | undefined {
    if (!this.#rules.rateLimit) return undefined;
    const now = this.#rules.now();
    const recent = (this.#calls.get(key) ?? []).filter((at) => now - at < 1000);
    if (recent.length >= most) return refusals.rateLimited(undefined);
    this.#calls.set(key, [...recent, now]);
    return undefined;
  }
}

/** Returns the id of the card entity in a message's content. `undefined` if the content is a card itself. */
export function cardIdIn(content: unknown): string | undefined {
  const parsed = parse(content);
  const data = parsed?.["type"] === "card" ? parsed["data"] : undefined;
  return isRaw(data) && typeof data["card_id"] === "string" ? data["card_id"] : undefined;
}

/** Parses a shared card of schema 2.0, or returns the reason for a refusal. */
function readCard(
  data: unknown,
):
  | { readonly card: Raw; readonly refusal?: undefined }
  | { readonly card?: undefined; readonly refusal: ApiReply } {
  const card = parse(data);
  if (card === undefined) return { refusal: refuse(300307, "The card DSL is empty") };
  if (card["schema"] !== "2.0" || elementsOf(card).length === 0)
    return { refusal: refuse(200220, "Failed to generate card content") };
  if (!isShared(card)) return { refusal: refuse(300302, "update_multi property is false") };
  return Buffer.byteLength(String(data)) > cardBytes ? { refusal: refusals.cardTooLarge() } : { card };
}

function elementsOf(card: Raw): readonly Raw[] {
  const elements = isRaw(card["body"]) ? card["body"]["elements"] : undefined;
  return Array.isArray(elements) ? elements.filter(isRaw) : [];
}

/** Returns true if a card is shared, so that a change is visible to everyone. */
export function isShared(card: Raw): boolean {
  return isRaw(card["config"]) && card["config"]["update_multi"] === true;
}

function streams(card: Raw): boolean {
  return isRaw(card["config"]) && card["config"]["streaming_mode"] === true;
}

function parse(text: unknown): Raw | undefined {
  try {
    const value: unknown = JSON.parse(String(text));
    return isRaw(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function invalid(field: string): ApiReply {
  return refuse(10002, `Your request contains an invalid request parameter: ${field}`);
}
