import { isRaw, type Raw } from "../raw.ts";
import type { Messages } from "./messages.ts";
import type { Parameters } from "./parameters.ts";
import { type ApiReply, badRequest, ok, refuse } from "./reply.ts";
import type { UpdateQueue } from "./update-queue.ts";
import { type TelegramUser, userObject } from "./updates.ts";

interface MethodOptions {
  /** Result of `getMe`. */
  readonly me: Raw;
  readonly messages: Messages;
  readonly updates: UpdateQueue;
  /** People that `getChat` returns. */
  readonly users: readonly TelegramUser[] | undefined;
}

interface StoredFile {
  readonly path: string;
  readonly content: Uint8Array;
  readonly size: number;
}

/** The methods of the Bot API. */
export class Methods {
  /** Files by id. */
  readonly files: Map<string, StoredFile> = new Map();
  /** Answered clicks. */
  readonly answered: string[] = [];
  readonly commands: { list: Raw[]; byLanguage: Map<string, Raw[]>; writes: number } = {
    list: [],
    byLanguage: new Map(),
    writes: 0,
  };
  readonly #options: MethodOptions;
  readonly #methods: Readonly<Record<string, (parameters: Parameters) => ApiReply | Promise<ApiReply>>> = {
    getMe: () => ok(this.#options.me),
    getUpdates: ({ values }) => this.#options.updates.get(values),
    setWebhook: ({ values }) => this.#options.updates.setWebhook(values),
    deleteWebhook: ({ values }) => this.#options.updates.deleteWebhook(values),
    getWebhookInfo: () => ok(this.#options.updates.webhookInfo()),
    sendMessage: (parameters) => this.#options.messages.sendText(parameters),
    sendRichMessage: (parameters) => this.#options.messages.sendRich(parameters),
    sendPoll: (parameters) => this.#options.messages.sendPoll(parameters),
    sendPhoto: (parameters) => this.#options.messages.sendMedia("photo", parameters),
    sendVoice: (parameters) => this.#options.messages.sendMedia("voice", parameters),
    sendAudio: (parameters) => this.#options.messages.sendMedia("audio", parameters),
    sendVideo: (parameters) => this.#options.messages.sendMedia("video", parameters),
    sendDocument: (parameters) => this.#options.messages.sendMedia("document", parameters),
    editMessageText: (parameters) => this.#options.messages.editText(parameters),
    editMessageReplyMarkup: (parameters) => this.#options.messages.editKeyboard(parameters),
    deleteMessage: (parameters) => this.#options.messages.remove(parameters),
    stopPoll: (parameters) => this.#options.messages.stopPoll(parameters),
    setMessageReaction: (parameters) => this.#options.messages.react(parameters),
    sendChatAction: ({ values }) =>
      values["action"] === "typing" ? ok(true) : badRequest("wrong parameter action in request"),
    getFile: ({ values }) => this.#describeFile(String(values["file_id"])),
    getChat: ({ values }) => this.#describeChat(Number(values["chat_id"])),
    getMyCommands: ({ values }) => this.#getCommands(String(values["language_code"] ?? "")),
    setMyCommands: ({ values }) =>
      this.#setCommands(values["commands"], String(values["language_code"] ?? "")),
    answerCallbackQuery: ({ values }) => {
      this.answered.push(String(values["callback_query_id"]));
      return ok(true);
    },
  };

  constructor(options: MethodOptions) {
    this.#options = options;
  }

  async call(name: string, parameters: Parameters | undefined): Promise<ApiReply> {
    const method = this.#methods[name];
    if (method === undefined) return refuse(404, "Not Found: method not found");
    return parameters === undefined ? badRequest("can't parse the request's body") : method(parameters);
  }

  #describeFile(id: string): ApiReply {
    const file = this.files.get(id);
    if (file === undefined) return badRequest("invalid file_id");
    const { path, size } = file;
    if (size > 20_971_520) return badRequest("file is too big");
    return ok({ file_id: id, file_unique_id: `u-${id}`, file_size: size, file_path: path });
  }

  #describeChat(id: number): ApiReply {
    const user = this.#options.users?.find((one) => one.id === id);
    if (user === undefined) return badRequest("chat not found");
    return ok({ ...userObject(user), type: "private" });
  }

  #getCommands(language: string): ApiReply {
    return ok(language === "" ? this.commands.list : (this.commands.byLanguage.get(language) ?? []));
  }

  #setCommands(list: unknown, language: string): ApiReply {
    if (!/^([a-z]{2})?$/.test(language)) return badRequest("LANG_CODE_INVALID");
    if (!Array.isArray(list) || list.length > 100) return badRequest("can't parse BotCommand");
    for (const command of list.filter(isRaw)) {
      if (!/^[a-z0-9_]{1,32}$/.test(String(command["command"]))) return badRequest("BOT_COMMAND_INVALID");
      const { length } = String(command["description"] ?? "");
      if (length < 1 || length > 256) return badRequest("BOT_COMMAND_DESCRIPTION_INVALID");
    }
    if (language === "") this.commands.list = list.filter(isRaw);
    else this.commands.byLanguage.set(language, list.filter(isRaw));
    this.commands.writes += 1;
    return ok(true);
  }
}
