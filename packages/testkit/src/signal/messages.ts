import type { Raw } from "../raw.ts";

/** A message that the account has sent. */
export interface SentSignalMessage {
  /** The id of the message, in milliseconds since the epoch. */
  readonly timestamp: number;
  /** The recipient or the group. */
  readonly to: string;
  /** All texts of the message, oldest first. */
  readonly texts: readonly string[];
  readonly styles: readonly string[];
  /** True if the apps show the attachment as a voice note. */
  readonly isVoiceNote?: boolean;
  readonly attachment?: { readonly mimeType: string; readonly name?: string; readonly content: Uint8Array };
  readonly quote?: { readonly timestamp: number; readonly author: string };
  readonly isRemoved: boolean;
}

/** An error response of a command. */
export class CommandError extends Error {
  readonly code: number;
  readonly data: Raw | null;

  constructor(code: number, message: string, data: Raw | null = null) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

type Mutable = { -readonly [Key in keyof SentSignalMessage]: SentSignalMessage[Key] };

/** Recipients whose messages fail, by the result that signal-cli reports. */
export type FailedRecipient = "UNREGISTERED_FAILURE" | "IDENTITY_FAILURE" | "NETWORK_FAILURE";

export interface MessageStoreOptions {
  readonly account: string;
  /** People and groups to which the account can send. */
  readonly recipients: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  readonly failed: ReadonlyMap<string, FailedRecipient>;
  readonly now: () => number;
}

const STYLE = /^(\d+):(\d+):(BOLD|ITALIC|SPOILER|STRIKETHROUGH|MONOSPACE)$/;
/** Source: `DataURI` of signal-cli, which reads a single parameter. */
const DATA_URI = /^data:([^;,]+\/[^;,]+)(?:;filename=([^;,]*))?;base64,(.+)$/s;

/** The account's messages, and the checks of `send`. Source: `SendCommand` and `SendMessageResultUtils`. */
export class SignalMessages {
  readonly all: Mutable[] = [];
  readonly reactions: Map<string, string[]> = new Map();
  readonly #options: MessageStoreOptions;
  #last = 0;

  constructor(options: MessageStoreOptions) {
    this.#options = options;
  }

  send(params: Raw): Raw {
    const to = this.target(params);
    const text = typeof params["message"] === "string" ? params["message"] : "";
    const attachments = listOf(params["attachment"]);
    if (text === "" && attachments.length === 0)
      throw new CommandError(
        -1,
        "Sending empty message is not allowed, either a message, attachment or sticker must be given.",
      );
    const styles = listOf(params["textStyle"]);
    for (const style of styles) checkStyle(style, text);
    const quote = readQuote(params);
    const attachment = attachments.map(readAttachment)[0];
    this.#checkResult(to);
    const { editTimestamp } = params;
    if (typeof editTimestamp === "number") return this.#edit(to, editTimestamp, text, styles);
    const timestamp = this.#next();
    this.all.push({
      timestamp,
      to,
      texts: [text],
      styles,
      isRemoved: false,
      attachment,
      isVoiceNote: params["voiceNote"] === true ? true : undefined,
      quote,
    });
    return this.#success(to, timestamp);
  }

  remove(params: Raw): Raw {
    const to = this.target(params);
    const found = this.all.find(
      (message) => message.timestamp === params["targetTimestamp"] && message.to === to,
    );
    // signal-cli has no history: it sends the deletion of any message.
    if (found !== undefined) found.isRemoved = true;
    return this.#success(to, this.#next());
  }

  react(params: Raw): Raw {
    const to = this.target(params);
    const { emoji, targetAuthor, targetTimestamp, remove } = params;
    if (typeof emoji !== "string" || [...new Intl.Segmenter().segment(emoji)].length !== 1)
      throw new CommandError(-1, "Invalid emoji");
    if (typeof targetAuthor !== "string" || typeof targetTimestamp !== "number")
      throw new CommandError(-1, "Required parameter is missing");
    const id = `${targetTimestamp}:${targetAuthor}`;
    this.reactions.set(id, remove === true ? [] : [emoji]);
    return this.#success(to, this.#next());
  }

  /** Returns the recipient or the group of a command. */
  target(params: Raw): string {
    const people = listOf(params["recipient"]);
    const groups = listOf(params["groupId"]);
    const [to] = [...people, ...groups];
    if (to === undefined) throw new CommandError(-1, "No recipients given");
    if (people.length > 0 && !/^(?:\+\d{5,15}|(?:PNI:)?[0-9a-f-]{36})$/.test(to))
      throw new CommandError(-1, `Invalid phone number '${to}'`);
    if (groups.length > 0 && !this.#options.groups.has(to))
      throw new CommandError(-1, `Group not found: ${to}`);
    return to;
  }

  #checkResult(to: string): void {
    const { recipients, groups, failed } = this.#options;
    const type =
      failed.get(to) ?? (recipients.has(to) || groups.has(to) ? undefined : "UNREGISTERED_FAILURE");
    if (type === undefined) return;
    const results = [{ recipientAddress: { uuid: to, number: null }, type }];
    const data = { response: { timestamp: this.#next(), results } };
    if (type === "IDENTITY_FAILURE")
      throw new CommandError(-4, "Failed to send message due to untrusted identities", data);
    throw new CommandError(-1, "Failed to send message", data);
  }

  #edit(to: string, timestamp: number, text: string, styles: readonly string[]): Raw {
    const message = this.all.find((one) => one.timestamp === timestamp && one.to === to);
    if (message !== undefined) {
      message.texts = [...message.texts, text];
      message.styles = styles;
    }
    return this.#success(to, this.#next());
  }

  #success(to: string, timestamp: number): Raw {
    const recipientAddress = { uuid: to.startsWith("+") ? null : to, number: to.startsWith("+") ? to : null };
    return { timestamp, results: [{ recipientAddress, type: "SUCCESS" }] };
  }

  /** Returns a timestamp that no other message has. */
  #next(): number {
    this.#last = Math.max(this.#options.now(), this.#last + 1);
    return this.#last;
  }
}

function listOf(value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]).map(String);
}

function checkStyle(style: string, text: string): void {
  const [, start, length] = STYLE.exec(style) ?? [];
  if (start === undefined)
    throw new CommandError(-1, `Invalid textStyle syntax (${style}) expected 'start:length:STYLE'`);
  if (Number(start) + Number(length) > text.length)
    throw new CommandError(-1, `Style ${style} is outside the text`);
}

function readQuote({ quoteTimestamp, quoteAuthor }: Raw): SentSignalMessage["quote"] {
  if (quoteTimestamp === undefined) return undefined;
  if (typeof quoteAuthor !== "string") throw new CommandError(-1, "Quote author parameter is missing");
  return { timestamp: Number(quoteTimestamp), author: quoteAuthor };
}

/** An attachment that is not a data URI is a path on the daemon's machine, where the file does not exist. */
function readAttachment(uri: string): NonNullable<SentSignalMessage["attachment"]> {
  const [, mimeType, name, data] = DATA_URI.exec(uri) ?? [];
  if (mimeType === undefined || data === undefined)
    throw new CommandError(-32603, `Failed to send message: ${uri.slice(0, 80)} (NoSuchFileException)`);
  return {
    mimeType,
    content: new Uint8Array(Buffer.from(data, "base64")),
    name: name === undefined ? undefined : decodeURIComponent(name.replaceAll("+", " ")),
  };
}
