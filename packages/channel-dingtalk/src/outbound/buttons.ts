import {
  type ButtonsPart,
  ChannelError,
  fitLabel,
  isPayload,
  type Json,
  parsePayload,
  toJson,
} from "@signalbox/channel";
import { limits } from "../limits.ts";

/** A button of DingTalk's card template. `request`: a click is reported to the app. */
interface CardButton {
  readonly text: string;
  readonly color: string;
  readonly id: string;
  readonly request: true;
}

const COLORS = { default: "gray", primary: "blue", danger: "red" } as const;
const PREFIX = "signalbox.";

/**
 * Renders buttons. Their ids contain the values.
 *
 * @throws ChannelError `too_large`, `invalid`
 */
export function renderButtons(buttons: ButtonsPart["buttons"]): readonly CardButton[] {
  if (buttons.length === 0) throw new ChannelError("invalid", "DingTalk: a message with buttons has none");
  if (buttons.length > limits.buttons)
    throw new ChannelError("too_large", `DingTalk: a message can have at most ${limits.buttons} buttons`);
  return buttons.map(({ id, label, style = "default", value }) => {
    if (value !== undefined && Buffer.byteLength(JSON.stringify(value)) > limits.valueBytes)
      throw new ChannelError(
        "too_large",
        `DingTalk: a button's value can have at most ${limits.valueBytes} bytes`,
      );
    return {
      text: fitLabel(label, limits.labelLength),
      color: COLORS[style],
      id: PREFIX + Buffer.from(JSON.stringify({ id, value })).toString("base64url"),
      request: true,
    };
  });
}

/** Reads the id of a clicked button. Returns `undefined` if this channel did not create it. */
export function readButton(actionId: unknown): { readonly id: string; readonly value?: Json } | undefined {
  if (typeof actionId !== "string" || !actionId.startsWith(PREFIX)) return undefined;
  const payload = parsePayload(Buffer.from(actionId.slice(PREFIX.length), "base64url").toString());
  if (!isPayload(payload) || typeof payload["id"] !== "string") return undefined;
  const { id, value } = payload;
  return value === undefined ? { id } : { id, value: toJson(value) ?? null };
}
