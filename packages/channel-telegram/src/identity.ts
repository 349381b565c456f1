import { type ChannelContext, ChannelError } from "@signalbox/channel";
import type { TelegramApi } from "./api.ts";
import type { Bot } from "./inbound/text.ts";
import { type Buttons, createButtons } from "./outbound/buttons.ts";

interface Identified {
  readonly bot: Bot;
  /** Stored button values of this bot. */
  readonly buttons: Buttons;
}

/** The bot's own identity from `getMe`. */
export class Identity {
  readonly #context: Pick<ChannelContext, "state">;
  readonly #api: TelegramApi;
  #known: Identified | undefined;

  constructor(context: Pick<ChannelContext, "state">, api: TelegramApi) {
    this.#context = context;
    this.#api = api;
  }

  get known(): Identified | undefined {
    return this.#known;
  }

  get bot(): Bot {
    return this.#mustKnow().bot;
  }

  get buttons(): Buttons {
    return this.#mustKnow().buttons;
  }

  /**
   * Fetches the identity unless it is known. An account can send and receive webhooks although another host has started
   * it.
   *
   * @throws ChannelError `auth` if the token is rejected
   */
  async ensure(signal: AbortSignal): Promise<void> {
    if (this.#known === undefined) await this.learn(signal);
  }

  /** @throws ChannelError `auth` if the token is rejected */
  async learn(signal: AbortSignal): Promise<void> {
    const call = { what: "fetching the bot's identity", write: false, signal };
    const me = await this.#api.call(call, (raw) => raw.getMe());
    const id = String(me.id);
    const buttons = this.#known?.bot.id === id ? this.#known.buttons : createButtons(this.#context.state, id);
    this.#known = { bot: { id, name: me.first_name, username: me.username }, buttons };
  }

  #mustKnow(): Identified {
    if (this.#known !== undefined) return this.#known;
    throw new ChannelError("transient", "Telegram: the bot's identity has not been fetched yet", {
      scope: "account",
    });
  }
}
