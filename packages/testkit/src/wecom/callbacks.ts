import { randomUUID } from "node:crypto";
import type { Raw } from "../raw.ts";

/** Options of a message from a person. */
export interface WecomMessageOptions {
  readonly msgid?: string;
  /** Default: `zhangsan`. */
  readonly from?: string;
  /** The group. Absent: a direct message. */
  readonly chatId?: string;
  /** The quoted message, for instance `{ msgtype: "text", text: { content: "…" } }`. */
  readonly quote?: Raw;
  /** Seconds since the epoch. Default: now. */
  readonly createTime?: number;
}

/** The id that the fake server adds to callbacks as `aibotid`. */
export const BOT_ID = "aib-bot";

/** Creates the body of a message callback. Source: document/path/100719. */
export function wecomMessage(content: Raw, options: WecomMessageOptions = {}): Raw {
  const { msgid = randomUUID(), from = "zhangsan", chatId, quote, createTime } = options;
  return {
    msgid,
    aibotid: BOT_ID,
    chatid: chatId,
    chattype: chatId === undefined ? "single" : "group",
    from: { userid: from },
    create_time: createTime ?? Math.floor(Date.now() / 1_000),
    ...content,
    ...(quote && { quote }),
  };
}

/** A text. In a group, a person has to write the bot's mention as part of the text, as in `@Bot hello`. */
export function textMessage(content: string, options?: WecomMessageOptions): Raw {
  return wecomMessage({ msgtype: "text", text: { content } }, options);
}

/** An event, for instance `enter_chat`. */
export function wecomEvent(eventtype: string, more: Raw = {}, options?: WecomMessageOptions): Raw {
  return wecomMessage({ msgtype: "event", event: { eventtype, ...more } }, options);
}
