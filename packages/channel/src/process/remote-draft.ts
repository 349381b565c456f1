import type { Draft, DraftOptions, FinalizeOptions, Outbound, Receipt } from "../contract/messages.ts";
import { accountMethods } from "./methods.ts";
import type { SupervisedAccount } from "./supervised-account.ts";

/** A draft in the process of its account; in the next process it is taken up by its message. */
export class RemoteDraft implements Draft {
  readonly #account: SupervisedAccount;
  readonly #to: string;
  readonly #options: DraftOptions;
  #messageId: string | undefined;
  #opened: { readonly process: object | undefined; readonly id: Promise<number> };

  constructor(supervised: SupervisedAccount, to: string, options: DraftOptions) {
    this.#account = supervised;
    this.#to = to;
    this.#options = options;
    this.#messageId = options.messageId;
    this.#opened = this.#open();
    options.signal.addEventListener("abort", () => void this.#halt(), { once: true });
  }

  /** Resolves once the channel has opened it. */
  async opened(): Promise<this> {
    await this.#opened.id;
    return this;
  }

  get messageId(): string | undefined {
    return this.#messageId;
  }

  async update(snapshot: string): Promise<void> {
    const draft = await this.#id();
    const { messageId } = await this.#account.call(accountMethods.updateDraft, { draft, snapshot });
    this.#messageId = messageId ?? this.#messageId;
  }

  finalize(message: Outbound, options: Partial<FinalizeOptions> = {}): Promise<Receipt> {
    const { idempotencyKey } = options;
    return this.#account.sending(options, async (callbacks) => {
      const draft = await this.#id();
      return this.#account.call(accountMethods.finalizeDraft, {
        draft,
        message,
        callbacks,
        ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      });
    });
  }

  async prolong(): Promise<void> {
    await this.#account.call(accountMethods.prolongDraft, { draft: await this.#id() });
  }

  async abort(): Promise<void> {
    await this.#account.call(accountMethods.abortDraft, { draft: await this.#id() });
  }

  async #halt(): Promise<void> {
    try {
      await this.#account.call(accountMethods.haltDraft, { draft: await this.#id() });
    } catch {
      // It ended with its process.
    }
  }

  #id(): Promise<number> {
    if (this.#opened.process !== this.#account.current) this.#opened = this.#open();
    return this.#opened.id;
  }

  #open() {
    const { idempotencyKey, replyTo } = this.#options;
    const messageId = this.#messageId;
    const opening = this.#account.call(accountMethods.openDraft, {
      to: this.#to,
      idempotencyKey,
      ...(replyTo === undefined ? {} : { replyTo }),
      ...(messageId === undefined ? {} : { messageId }),
    });
    const id = opening.then(({ draft }) => draft);
    // Whoever asks for it hears of it.
    id.catch(() => {});
    return { process: this.#account.current, id };
  }
}
