import { ChannelError, type Draft, type DraftOptions, isChannelError } from "@signalbox/channel";
import type { FeishuAddress } from "./address.ts";
import { limits } from "./limits.ts";
import { renderCard } from "./render.ts";
import { type Sender, withReceipt } from "./send.ts";

/** A card that is sent at the first text and patched as it grows. It sends nothing before. */
export function createDraft(sender: Sender, to: FeishuAddress, options: DraftOptions): Draft {
  const { idempotencyKey, replyTo, signal } = options;
  let messageId = options.messageId;
  let state: "open" | "finished" | "aborted" = "open";
  /** What the card holds. Undefined where an earlier try or process may have put something else there. */
  let shown: string | undefined;
  let tried = false;
  /** Everything that changes the card waits for what came before it. */
  let last: Promise<unknown> = Promise.resolve();
  let waiting: { content: string; done: Promise<void> } | undefined;

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(work, work);
    last = result.catch(() => {});
    return result;
  }

  async function put(content: string): Promise<string> {
    if (messageId === undefined) {
      const repeated = tried;
      tried = true;
      messageId = await sender.sendCard(to, content, { replyTo, uuid: `${idempotencyKey}.0`, signal });
      // A try that was thought lost may be the message that is there, with the text of then.
      shown = repeated ? undefined : content;
    }
    if (shown !== content) await sender.patchCard(messageId, content, signal);
    shown = content;
    return messageId;
  }

  return {
    get messageId() {
      return messageId;
    },

    async update(snapshot) {
      if (state !== "open" || snapshot.trim() === "") return;
      const content = renderCard({ type: "markdown", text: fitting(snapshot) });
      if (waiting !== undefined) {
        waiting.content = content;
        return waiting.done;
      }
      const turn = { content, done: Promise.resolve() };
      waiting = turn;
      turn.done = inTurn(async () => {
        waiting = undefined;
        // Nobody waits for it any more, and it could come after what finishes the card.
        if (signal.aborted) return;
        if (state === "open" && turn.content !== shown) await put(turn.content);
      });
      return turn.done;
    },

    finalize(message, how = { idempotencyKey }) {
      return inTurn(async () => {
        if (state !== "open") throw new ChannelError("invalid", "Feishu: the draft is finished");
        const [part] = message.parts;
        if (part === undefined) throw new ChannelError("invalid", "Feishu: an empty message");
        const content = renderCard(part);
        if (messageId === undefined) tried = true;
        const first = { index: 0, messageId: await put(content) };
        state = "finished";
        await how.onPart?.(first);
        try {
          const rest = await sender.send(to, message, { ...how, signal, startAt: 1 });
          return { parts: [first, ...rest.parts] };
        } catch (error) {
          if (!isChannelError(error)) throw error;
          throw withReceipt(error, { parts: [first, ...(error.receipt?.parts ?? [])] });
        }
      });
    },

    abort() {
      return inTurn(async () => {
        if (state !== "open") return;
        // Whether a try got through shows when it is made again.
        if (messageId === undefined && tried) await put(renderCard({ type: "text", text: "…" }));
        if (messageId !== undefined) await sender.remove(messageId, signal).catch(unlessGone);
        state = "aborted";
      });
    },
  };
}

function unlessGone(error: unknown): void {
  if (!isChannelError(error) || error.code !== "not_found") throw error;
}

/** As much of a text as one card holds. */
function fitting(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= limits.partBytes) return text;
  let end = limits.partBytes - Buffer.byteLength("…");
  // Not into the middle of a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${bytes.toString("utf8", 0, end)}…`;
}
