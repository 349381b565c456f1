import { type Clock, createEditedDraft, type Draft, type DraftOptions, fitText } from "@signalbox/channel";
import type { FeishuAddress } from "../address.ts";
import { limits } from "../limits.ts";
import { type CardKit, cardReference } from "./card-kit.ts";
import { type CardStream, type CardText, createCardStream } from "./card-stream.ts";
import { cardMarkdown, renderCard } from "./render.ts";
import type { Sender } from "./send.ts";

export interface DraftNeeds {
  readonly sender: Sender;
  readonly cards: CardKit;
  readonly clock: Clock;
}

/**
 * A draft is a card: the one kind of message that can be changed as often as one likes. It is streamed into where the
 * app may do that, and patched elsewhere; what is finished is the whole card in either case.
 */
export function createDraft(
  { sender, cards, clock }: DraftNeeds,
  to: FeishuAddress,
  options: DraftOptions,
): Draft {
  const { signal } = options;
  const ending = new AbortController();
  let stream: CardStream | undefined;

  async function openStream(key: string, markdown: string | undefined): Promise<CardStream | undefined> {
    // An answer that is finished at once needs no stream, unless an earlier try has sent one.
    const entity = await (markdown === undefined ? cards.madeUnder(key) : cards.open(key, markdown, signal));
    return entity && createCardStream(entity, clock, AbortSignal.any([signal, ending.signal]));
  }

  async function create(content: CardText, key: string, replyTo: string | undefined): Promise<string> {
    stream ??= await openStream(key, content.markdown);
    const shown = stream === undefined ? content.card : cardReference(stream.cardId);
    const messageId = await sender.sendCard(to, shown, { replyTo, uuid: key, signal });
    if (stream !== undefined) await cards.shownBy(messageId, key);
    return messageId;
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
  return {
    get messageId() {
      return draft.messageId;
    },
    update: (text) => draft.update(text),
    finalize: (message, how) => draft.finalize(message, how),
    async abort() {
      await draft.abort();
      ending.abort();
    },
  };
}
