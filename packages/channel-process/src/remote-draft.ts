import type { Draft, DraftOptions, FinalizeOptions, Outbound, Receipt } from "@signalbox/channel";
import { z } from "zod";
import type { AccountProcess } from "./account-process.ts";
import { receipt } from "./schemas.ts";
import type { SupervisedAccount } from "./supervised-account.ts";

/** A draft in the account's process. After a restart, it is reopened with its existing message. */
export class RemoteDraft implements Draft {
  readonly #account: SupervisedAccount;
  readonly #to: string;
  readonly #options: DraftOptions;
  #messageId: string | undefined;
  #opened: { readonly process: AccountProcess | undefined; readonly draft: Promise<number> };

  private constructor(account: SupervisedAccount, to: string, options: DraftOptions) {
    this.#account = account;
    this.#to = to;
    this.#options = options;
    this.#messageId = options.messageId;
    this.#opened = this.#open();
    options.signal.addEventListener("abort", () => void this.#halt(), { once: true });
  }

  /** Opens a draft. `to` is the encoded address. */
  static async open(account: SupervisedAccount, to: string, options: DraftOptions): Promise<RemoteDraft> {
    const draft = new RemoteDraft(account, to, options);
    await draft.#opened.draft;
    return draft;
  }

  get messageId(): string | undefined {
    return this.#messageId;
  }

  async update(snapshot: string): Promise<void> {
    const draft = await this.#current();
    const messageId = await this.#account.call("updateDraft", { draft, snapshot }, z.string().optional());
    this.#messageId = messageId ?? this.#messageId;
  }

  finalize(message: Outbound, options: Partial<FinalizeOptions> = {}): Promise<Receipt> {
    const { idempotencyKey = this.#options.idempotencyKey } = options;
    return this.#account.sending(message, options, async (parameters) => {
      const draft = await this.#current();
      return this.#account.call("finalizeDraft", { draft, idempotencyKey, ...parameters }, receipt);
    });
  }

  async prolong(): Promise<void> {
    await this.#account.call("prolongDraft", await this.#current(), z.unknown());
  }

  async abort(): Promise<void> {
    await this.#account.call("abortDraft", await this.#current(), z.unknown());
  }

  async #halt(): Promise<void> {
    try {
      await this.#account.call("haltDraft", await this.#current(), z.unknown());
    } catch {
      // The draft has ended together with its process.
    }
  }

  #current(): Promise<number> {
    if (this.#opened.process !== this.#account.process) this.#opened = this.#open();
    return this.#opened.draft;
  }

  #open() {
    const { idempotencyKey, replyTo } = this.#options;
    const options = { to: this.#to, idempotencyKey, replyTo, messageId: this.#messageId };
    const draft = this.#account.call("openDraft", options, z.int());
    // Every caller of the draft awaits this promise and handles the error.
    draft.catch(() => {});
    return { process: this.#account.process, draft };
  }
}
