import {
  type ChannelContext,
  ChannelError,
  getSinglePart,
  type Outbound,
  type OutboundPart,
  type Receipt,
  type SendOptions,
  sendParts,
} from "@signalbox/channel";
import { formatMessageId, parseMessageId, type SignalAddress } from "../address.ts";
import type { SignalConfig } from "../config.ts";
import { limits } from "../limits.ts";
import { type SignalCli, toPayload } from "../rpc.ts";
import { toDataUri } from "./attachment.ts";
import { type StyledText, toStyledText } from "./styled.ts";

type Target = { readonly recipient: readonly [string] } | { readonly groupId: string };

function createTarget(to: SignalAddress): Target {
  return "group" in to ? { groupId: to.group } : { recipient: [to.person] };
}

/** Sends and changes messages. */
export class Sender {
  readonly #context: ChannelContext<SignalConfig>;
  readonly #cli: SignalCli;
  /** Removed messages. The apps ignore an edit of a removed message, but signal-cli sends it. */
  readonly #removed = new Set<string>();

  constructor(context: ChannelContext<SignalConfig>, cli: SignalCli) {
    this.#context = context;
    this.#cli = cli;
  }

  send(to: SignalAddress, message: Outbound, options: SendOptions): Promise<Receipt> {
    return sendParts(message, options, async ({ part, replyTo }) => {
      const quote = createQuote(replyTo);
      const content = await createContent(part, options.openMedia);
      const what = part.type === "media" ? "sending an attachment" : "sending a message";
      return this.#send(what, { ...createTarget(to), ...content, ...quote }, options.signal);
    });
  }

  async edit(to: SignalAddress, messageId: string, message: Outbound, signal: AbortSignal): Promise<void> {
    const part = getSinglePart(message);
    if (part.type === "media") throw new ChannelError("unsupported", "Signal: attachments cannot be edited");
    const content = await createContent(part, undefined);
    const editTimestamp = this.#getOwn(messageId);
    if (this.#context.clock.now() - editTimestamp > limits.editWindowMs)
      throw new ChannelError("permission", "Signal: a message can be edited for 24 hours");
    await this.#send("editing a message", { ...createTarget(to), ...content, editTimestamp }, signal);
  }

  async remove(to: SignalAddress, messageId: string, signal: AbortSignal): Promise<void> {
    const targetTimestamp = this.#getOwn(messageId);
    await this.#change(
      "remoteDelete",
      "removing a message",
      { ...createTarget(to), targetTimestamp },
      signal,
    );
    this.#removed.add(messageId);
    const [oldest] = this.#removed;
    if (this.#removed.size > limits.removedIds && oldest !== undefined) this.#removed.delete(oldest);
  }

  async react(
    to: SignalAddress,
    messageId: string,
    { emoji, on }: { readonly emoji: string; readonly on: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    const { timestamp, author } = parseMessageId(messageId);
    const target = { targetAuthor: author, targetTimestamp: timestamp, remove: !on };
    await this.#change(
      "sendReaction",
      "reacting to a message",
      { ...createTarget(to), emoji, ...target },
      signal,
    );
  }

  /** The apps hide the indicator after 15 seconds, or when a message arrives. */
  async typing(to: SignalAddress, on: boolean, signal: AbortSignal): Promise<void> {
    const params = { ...createTarget(to), stop: !on };
    await this.#change("sendTyping", "showing the typing indicator", params, signal);
  }

  /** Returns the time of a message from the bot. */
  #getOwn(messageId: string): number {
    const { timestamp, author } = parseMessageId(messageId);
    if (author !== this.#context.config.account)
      throw new ChannelError("permission", "Signal: only the bot's own messages can be changed");
    if (this.#removed.has(messageId)) throw new ChannelError("not_found", "Signal: the message was removed");
    return timestamp;
  }

  /** Calls `send` and returns the id of the message. signal-cli chooses its timestamp. */
  async #send(what: string, params: object, signal: AbortSignal): Promise<string> {
    const call = { what, write: true, signal, timeoutMs: limits.sendTimeoutMs };
    const { timestamp } = toPayload(await this.#cli.call("send", params, call));
    if (typeof timestamp !== "number")
      throw new ChannelError("unknown_outcome", `Signal: ${what}: the response contains no timestamp`);
    return formatMessageId(timestamp, this.#context.config.account);
  }

  /** Calls a command that can be repeated without another effect. */
  async #change(method: string, what: string, params: object, signal: AbortSignal): Promise<void> {
    await this.#cli.call(method, params, { what, write: false, signal });
  }
}

/** The apps show the quoted message from their own history. */
function createQuote(replyTo: string | undefined): object {
  if (replyTo === undefined) return {};
  const { timestamp, author } = parseMessageId(replyTo);
  return { quoteTimestamp: timestamp, quoteAuthor: author };
}

async function createContent(part: OutboundPart, openMedia: SendOptions["openMedia"]): Promise<object> {
  switch (part.type) {
    case "text":
      return createTextFields({ text: part.text, styles: [] });
    case "markdown":
      return createTextFields(toStyledText(part.text));
    case "media":
      // Since signal-cli 0.14.2. Older ones ignore it and send a file.
      return {
        attachment: [await toDataUri(part, openMedia)],
        ...(part.voice === true ? { voiceNote: true } : {}),
      };
    default:
      throw new ChannelError("unsupported", `Signal: a part of type ${part.type} cannot be sent`);
  }
}

function createTextFields({ text, styles }: StyledText): object {
  if (text.length > limits.partLength)
    throw new ChannelError("too_large", `Signal: a message can have at most ${limits.partLength} characters`);
  return styles.length === 0 ? { message: text } : { message: text, textStyle: styles };
}
