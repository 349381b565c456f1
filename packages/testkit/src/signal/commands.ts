import type { Raw } from "../raw.ts";
import type { SignalPerson } from "./envelopes.ts";
import { CommandError, type SignalMessages } from "./messages.ts";

/** Parameters of the commands. The real daemon ignores others. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  send: [
    "recipient",
    "groupId",
    "message",
    "attachment",
    "voiceNote",
    "textStyle",
    "quoteTimestamp",
    "quoteAuthor",
    "editTimestamp",
  ],
  remoteDelete: ["recipient", "groupId", "targetTimestamp"],
  sendReaction: ["recipient", "groupId", "emoji", "targetAuthor", "targetTimestamp", "remove"],
  sendTyping: ["recipient", "groupId", "stop"],
  listContacts: ["recipient", "allRecipients"],
  getAttachment: ["id", "recipient", "groupId"],
  getSticker: ["packId", "stickerId"],
  version: [],
};

interface CommandOptions {
  readonly account: string;
  readonly uuid: string;
  readonly name?: string;
  readonly people: readonly SignalPerson[];
  readonly multiAccount?: boolean;
  readonly version?: string;
  readonly messages: SignalMessages;
  /** Receives the recipients of the typing indicator. */
  readonly typing: string[];
}

/** The commands of the daemon. */
export class SignalCommands {
  /** Attachments by id, and stickers by `<pack>/<id>`. */
  readonly files: Map<string, Uint8Array> = new Map();
  readonly #options: CommandOptions;
  #isUnlinked = false;

  constructor(options: CommandOptions) {
    this.#options = options;
  }

  /** Signal rejects the credentials of the account from now on. */
  unlink(): void {
    this.#isUnlinked = true;
  }

  /** @throws CommandError */
  run(method: string, params: Raw): unknown {
    const accepted = PARAMETERS[method];
    if (accepted === undefined) throw new CommandError(-32601, "Method not implemented");
    this.#checkAccount(params["account"]);
    const unknown = Object.keys(params).find((name) => name !== "account" && !accepted.includes(name));
    if (unknown !== undefined) throw new CommandError(-32600, `signal-cli ignores the parameter ${unknown}`);
    if (this.#isUnlinked && method !== "version" && method !== "listContacts")
      throw new CommandError(
        -32603,
        "Failed to send message: [401] Authorization failed! (AuthorizationFailedException)",
      );
    return this.#call(method, params);
  }

  #checkAccount(given: unknown): void {
    const { account, multiAccount = false } = this.#options;
    if (!multiAccount) return;
    if (given === undefined) throw new CommandError(-32602, "Method requires valid account parameter");
    if (given !== account) throw new CommandError(-32602, "Specified account does not exist");
  }

  #call(method: string, params: Raw): unknown {
    const { messages, typing, version = "0.14.6" } = this.#options;
    switch (method) {
      case "send":
        return messages.send(params);
      case "remoteDelete":
        return messages.remove(params);
      case "sendReaction":
        return messages.react(params);
      case "sendTyping": {
        const to = messages.target(params);
        typing.push(params["stop"] === true ? `stop ${to}` : to);
        return { timestamp: Date.now(), results: [] };
      }
      case "listContacts":
        return this.#listContacts(params["recipient"]);
      case "getAttachment":
        if (params["recipient"] === undefined && params["groupId"] === undefined)
          throw new CommandError(-1, "one of the arguments --recipient --group-id is required");
        return this.#findFile(String(params["id"]), `Could not find attachment with ID: ${params["id"]}`);
      case "getSticker": {
        const { packId, stickerId } = params;
        const missing = `Could not find sticker with ID: ${stickerId} in pack ${packId}`;
        return this.#findFile(`${packId}/${stickerId}`, missing);
      }
      default:
        return { version };
    }
  }

  #findFile(key: string, missing: string): Raw {
    const content = this.files.get(key);
    if (content === undefined) throw new CommandError(-1, missing);
    return { data: Buffer.from(content).toString("base64") };
  }

  /** Source: `JsonContact`. */
  #listContacts(recipient: unknown): readonly Raw[] {
    const { account, uuid, name = "", people } = this.#options;
    const ids: readonly unknown[] = Array.isArray(recipient) ? recipient : [];
    return [{ uuid, number: account, name }, ...people]
      .filter((person: SignalPerson) => ids.includes(person.uuid) || ids.includes(person.number))
      .map((person: SignalPerson) => ({
        number: person.number ?? null,
        uuid: person.uuid,
        username: null,
        name: "",
        givenName: null,
        familyName: null,
        isBlocked: false,
        profile: { givenName: person.name ?? null, familyName: null, about: null },
      }));
  }
}
