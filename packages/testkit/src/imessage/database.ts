/** An attachment in the database. */
export interface StoredAttachment {
  readonly guid: string;
  readonly name: string;
  readonly mimeType: string;
  readonly content: Uint8Array;
}

/** A row of the message table. */
export interface ChatMessage {
  readonly rowId: number;
  readonly guid: string;
  /** For instance `iMessage;-;+4915112345678` or `iMessage;+;chat1`. */
  readonly chatGuid: string;
  readonly sender: string;
  readonly isFromMe: boolean;
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly attachments: readonly StoredAttachment[];
  readonly replyTo?: string;
  readonly tapback?: { readonly guid: string; readonly kind: string; readonly isAdded: boolean };
}

export interface FakeMessagesOptions {
  /** Phone numbers and e-mail addresses that can receive messages. Default: all. */
  readonly people?: readonly string[];
  /** Identifiers of the groups of the account. */
  readonly groups?: readonly string[];
  /** Milliseconds since the epoch. Default: the machine's clock. */
  readonly now?: () => number;
}

export interface MessageOptions {
  readonly guid?: string;
  readonly sender?: string;
  /** Identifier of the group. Default: a direct message. */
  readonly group?: string;
  readonly isFromMe?: boolean;
  readonly at?: number;
  readonly attachments?: readonly StoredAttachment[];
  readonly replyTo?: string;
  readonly tapback?: ChatMessage["tapback"];
}

type Listener = (message: ChatMessage) => void;

/** The database of Messages on a Mac, and what people write there. */
export class FakeMessages {
  readonly rows: ChatMessage[] = [];
  readonly #options: FakeMessagesOptions;
  readonly #chats: string[] = [];
  readonly #listeners = new Set<Listener>();
  #rowId = 0;

  constructor(options: FakeMessagesOptions = {}) {
    this.#options = options;
    for (const group of options.groups ?? []) this.#chats.push(`iMessage;+;${group}`);
  }

  /** Messages that the account has sent, without tapbacks, in order. */
  get sent(): readonly ChatMessage[] {
    return this.rows.filter(
      ({ isFromMe, tapback, sender }) => isFromMe && tapback === undefined && sender === "",
    );
  }

  get lastRowId(): number {
    return this.#rowId;
  }

  /** Chats with their row ids. The one with the latest message comes first. */
  chats(): readonly { readonly id: number; readonly guid: string; readonly lastAt: number }[] {
    return this.#chats
      .map((guid, index) => {
        const times = this.rows.filter(({ chatGuid }) => chatGuid === guid).map(({ at }) => at);
        return { id: index + 1, guid, lastAt: Math.max(0, ...times) };
      })
      .toSorted((a, b) => b.lastAt - a.lastAt);
  }

  /** Calls the listener with each new row. Returns a function that ends this. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Adds a message of a person, or of the account on another device. */
  say(text: string, options: MessageOptions = {}): ChatMessage {
    const { sender = "+4915100000001", group, isFromMe = false, replyTo, tapback } = options;
    const chatGuid = group === undefined ? `iMessage;-;${sender}` : `iMessage;+;${group}`;
    return this.#add({
      guid: options.guid ?? this.#createGuid(),
      chatGuid,
      sender: isFromMe ? "me@example.org" : sender,
      isFromMe,
      text,
      at: options.at ?? this.#now(),
      attachments: options.attachments ?? [],
      replyTo,
      tapback,
    });
  }

  /** Returns true if the account can send to a chat. */
  canSend(chatGuid: string): boolean {
    const [, kind, id = ""] = chatGuid.split(";");
    const { people } = this.#options;
    return kind === "+" ? this.#chats.includes(chatGuid) : (people?.includes(id) ?? true);
  }

  /** Adds a message of the account. */
  send(
    chatGuid: string,
    content: Partial<Pick<ChatMessage, "text" | "attachments" | "replyTo" | "tapback">>,
  ): ChatMessage {
    return this.#add({
      guid: this.#createGuid(),
      chatGuid,
      sender: "",
      isFromMe: true,
      text: content.text ?? "\ufffc",
      at: this.#now(),
      attachments: content.attachments ?? [],
      replyTo: content.replyTo,
      tapback: content.tapback,
    });
  }

  /** The account's tapbacks on a message. */
  tapbacks(guid: string): readonly string[] {
    const own = this.rows.flatMap(({ isFromMe, tapback }) =>
      isFromMe && tapback?.guid === guid ? [tapback] : [],
    );
    const last = own.at(-1);
    return last?.isAdded === true ? [last.kind] : [];
  }

  #now(): number {
    return this.#options.now?.() ?? Date.now();
  }

  #createGuid(): string {
    return crypto.randomUUID().toUpperCase();
  }

  #add(message: Omit<ChatMessage, "rowId">): ChatMessage {
    // iCloud can add a message again, as a new row.
    const known = this.rows.findIndex(({ guid }) => guid === message.guid);
    if (known >= 0) this.rows.splice(known, 1);
    this.#rowId += 1;
    const row = { ...message, rowId: this.#rowId };
    if (!this.#chats.includes(row.chatGuid)) this.#chats.push(row.chatGuid);
    this.rows.push(row);
    for (const listener of this.#listeners) listener(row);
    return row;
  }
}
