import { type Clock, createEditedDraft, type Draft, type DraftOptions, fitText } from "@signalbox/channel";
import type { FeishuAddress } from "../address.ts";
import { limits } from "../limits.ts";
import { type CardEntity, type CardKit, cardReference } from "./card-kit.ts";
import { type CardStream, type CardText, createCardStream } from "./card-stream.ts";
import { cardMarkdown, renderCard } from "./render.ts";
import type { Sender } from "./send.ts";

export interface DraftNeeds {
  readonly sender: Sender;
  readonly cards: CardKit;
  readonly clock: Clock;
}

/**
 * Creates a draft as a card, the only type of message that can be changed any number of times. The text is streamed if
 * the app has the permission. Otherwise the card is patched. The finished answer is a complete card in both cases.
 */
export function createDraft(
  { sender, cards, clock }: DraftNeeds,
  to: FeishuAddress,
  options: DraftOptions,
): Draft {
  const { signal } = options;
  const ending = new AbortController();
  let entity: CardEntity | undefined;
  let stream: CardStream | undefined;

  async function create(content: CardText, key: string, replyTo: string | undefined): Promise<string> {
    // An answer that is complete immediately needs no stream.
    if (content.markdown !== undefined) entity ??= await cards.open(content.markdown, signal);
    const shown = entity === undefined ? content.card : cardReference(entity.cardId);
    const messageId = await sender.sendCard(to, shown, { replyTo, uuid: key, signal });
    if (entity !== undefined) stream = await streamInto(entity, messageId);
    return messageId;
  }

  /** If an earlier process used the key, the message is the earlier one and shows a different card. */
  async function streamInto(made: CardEntity, messageId: string): Promise<CardStream> {
    const shown = await cards.shownBy(messageId, signal);
    const into = shown === undefined || shown.cardId === made.cardId ? made : shown;
    return createCardStream(into, clock, AbortSignal.any([signal, ending.signal]));
  }

  async function change(messageId: string, content: CardText): Promise<void> {
    if (stream === undefined) await sender.changeCard(messageId, content.card, signal);
    else if (content.markdown === undefined) await stream.finish(content.card);
    else await stream.write(content);
  }

  const draft = createEditedDraft<CardText>(
    {
      snapshot(text) {
        const fitting = fitText(text, { max: limits.partBytes, unit: "bytes" });
        return { card: renderCard({ type: "markdown", text: fitting }), markdown: cardMarkdown(fitting) };
      },
      render: (part) => ({ card: renderCard(part) }),
      create: (content, { key, replyTo }) => create(content, key, replyTo),
      change,
      remove: (messageId) => sender.remove(messageId, signal),
      sendRest: (message, how) => sender.send(to, message, { ...how, signal }),
    },
    options,
  );
  const takeBack = draft.abort.bind(draft);
  return Object.assign(draft, {
    abort(): Promise<void> {
      // Does not wait for text that is still being written to the card.
      ending.abort();
      return takeBack();
    },
  });
}
