import { createHash } from "node:crypto";
import {
  type ButtonsPart,
  ChannelError,
  type ChannelState,
  fitLabel,
  isPayload,
  type Json,
  parsePayload,
  textAt,
  toJson,
} from "@signalbox/channel";
import type { InlineKeyboardMarkup } from "grammy/types";
import { limits } from "../limits.ts";

/** Action and value of a clicked button. */
export interface Click {
  readonly actionId: string;
  readonly value?: Json;
}

/**
 * Buttons of messages. Telegram returns at most 64 bytes with a click, so longer values are stored here,
 * keyed by a digest. The oldest stored values are evicted.
 */
export interface Buttons {
  keyboard(part: ButtonsPart): Promise<InlineKeyboardMarkup>;
  /** Returns the click for `data`, or `undefined` if this channel did not create it or has evicted its value. */
  read(data: string): Promise<Click | undefined>;
}

const remembered = "#";

/** @param botId part of the storage key, because each bot has buttons of its own */
export function createButtons(state: ChannelState, botId: string): Buttons {
  const key = `${botId}/buttons`;
  let last: Promise<unknown> = Promise.resolve();

  async function load(): Promise<[string, string][]> {
    const saved = await state.get(key);
    const list = isPayload(saved) && Array.isArray(saved["buttons"]) ? saved["buttons"] : [];
    return list.flatMap((entry: unknown): [string, string][] =>
      Array.isArray(entry) && typeof entry[0] === "string" && typeof entry[1] === "string"
        ? [[entry[0], entry[1]]]
        : [],
    );
  }

  function remember(entries: readonly (readonly [string, string])[]): Promise<void> {
    const work = async (): Promise<void> => {
      const kept = new Map([...(await load()), ...entries]);
      await state.set(key, { buttons: [...kept].slice(-limits.rememberedButtons) });
    };
    const result = last.then(work, work);
    last = result.catch(() => {});
    return result;
  }

  return {
    async keyboard({ buttons }) {
      if (buttons.length > limits.buttons)
        throw new ChannelError("too_large", `Telegram: a message can have at most ${limits.buttons} buttons`);
      const long: [string, string][] = [];
      const rows = buttons.map(({ id, label, value }) => {
        if (Buffer.byteLength(JSON.stringify(value) ?? "") > limits.valueBytes)
          throw new ChannelError(
            "too_large",
            `Telegram: a button's value can have at most ${limits.valueBytes} bytes`,
          );
        const data = JSON.stringify(value === undefined ? { id } : { id, value });
        const text = fitLabel(label, limits.labelLength);
        if (Buffer.byteLength(data) <= limits.callbackBytes) return [{ text, callback_data: data }];
        const digest = remembered + createHash("sha256").update(data).digest("base64url");
        long.push([digest, data]);
        return [{ text, callback_data: digest }];
      });
      if (long.length > 0) await remember(long);
      return { inline_keyboard: rows };
    },

    async read(data) {
      const written = data.startsWith(remembered) ? new Map(await load()).get(data) : data;
      const payload = written === undefined ? undefined : parsePayload(written);
      const actionId = payload === undefined ? undefined : textAt(payload, "id");
      if (payload === undefined || actionId === undefined) return undefined;
      const value = toJson(payload["value"]);
      return value === undefined ? { actionId } : { actionId, value };
    },
  };
}
