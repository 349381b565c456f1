import { isRaw, type Raw } from "../raw.ts";
import type { SentFile } from "./check-message.ts";
import { checkForm, checkMessage } from "./check-message.ts";
import type { DiscordMessage, Messages } from "./messages.ts";
import { type ApiReply, done, ok, refusals } from "./reply.ts";
import { channelPayload, userPayload, type World } from "./world.ts";

/** Source: Discord's page on receiving and responding to interactions. */
const firstAnswerMs = 3_000;
const tokenMs = 15 * 60_000;
const callback = { message: 4, deferredMessage: 5, deferredUpdate: 6, form: 9 } as const;

/** A use of a command, a button, a menu or a form. */
export interface Interaction {
  readonly id: string;
  readonly token: string;
  readonly channelId: string;
  readonly startedAt: number;
  /** Sequence number of its event. `undefined` if no session received it. */
  sequence: number | undefined;
  /** Payload of its event. */
  readonly payload: Raw;
  /** Type of the first response. `undefined` before it. */
  answeredWith: number | undefined;
  /** The message with the response, if any. */
  message: DiscordMessage | undefined;
  /** The form that it opened, if any. The person can submit it. */
  form: Raw | undefined;
  /** The message with the clicked button. */
  readonly about: string | undefined;
  /** True for a submitted form. */
  readonly isForm: boolean;
}

/** A person's action. */
export type Doing =
  | {
      readonly kind: "command";
      readonly name: string;
      readonly options?: readonly { readonly name: string; readonly value: string | number | boolean }[];
    }
  /** Chosen from a message's context menu. */
  | { readonly kind: "message-command"; readonly name: string; readonly messageId: string }
  | { readonly kind: "click"; readonly messageId: string; readonly customId: string }
  | {
      readonly kind: "choose";
      readonly messageId: string;
      readonly customId: string;
      readonly value: string;
    }
  /** Submits the form that an interaction opened. */
  | { readonly kind: "submit"; readonly opened: Interaction; readonly text: string };

/** Commands, clicks and forms, and their responses. */
export class Interactions {
  readonly #world: World;
  readonly #messages: Messages;
  readonly #applicationId: string;
  readonly all: Map<string, Interaction> = new Map();

  constructor(world: World, messages: Messages, applicationId: string) {
    this.#world = world;
    this.#messages = messages;
    this.#applicationId = applicationId;
  }

  begin(channelId: string, userId: string, doing: Doing): Interaction {
    const id = this.#world.nextId();
    const token = `interaction-token-${id}`;
    const interaction: Interaction = {
      id,
      channelId,
      token,
      startedAt: this.#world.now(),
      payload: this.#payload({ id, token, channelId, userId, doing }),
      sequence: undefined,
      answeredWith: undefined,
      message: undefined,
      form: undefined,
      about: doing.kind === "click" ? doing.messageId : undefined,
      isForm: doing.kind === "submit",
    };
    this.all.set(id, interaction);
    return interaction;
  }

  #payload(begun: { id: string; token: string; channelId: string; userId: string; doing: Doing }): Raw {
    const { id, token, channelId, userId, doing } = begun;
    const channel = this.#world.channels.get(channelId);
    const user = userPayload(this.#world.user(userId));
    const roles = this.#world.guilds.get(channel?.guildId ?? "")?.members.get(userId) ?? [];
    return {
      id,
      token,
      application_id: this.#applicationId,
      version: 1,
      channel_id: channelId,
      channel: channel === undefined ? undefined : channelPayload(channel),
      ...(channel?.guildId === undefined ? { user } : { guild_id: channel.guildId, member: { user, roles } }),
      ...this.#dataOf(doing),
    };
  }

  #dataOf(doing: Doing): Raw {
    switch (doing.kind) {
      case "command": {
        const options = (doing.options ?? []).map((one) => ({ type: 3, ...one }));
        return { type: 2, data: { id: "1", type: 1, name: doing.name, options } };
      }
      case "message-command": {
        const { name, messageId } = doing;
        const { message = {} } = this.#messageWith(messageId);
        const resolved = { messages: { [messageId]: message } };
        return { type: 2, data: { id: "1", type: 3, name, target_id: messageId, resolved } };
      }
      case "click": {
        const data = { component_type: 2, custom_id: doing.customId };
        return { type: 3, ...this.#messageWith(doing.messageId), data };
      }
      case "choose": {
        const data = { component_type: 3, custom_id: doing.customId, values: [doing.value] };
        return { type: 3, ...this.#messageWith(doing.messageId), data };
      }
      case "submit":
        return { type: 5, ...this.#messageWith(doing.opened.about), data: filledIn(doing) };
    }
  }

  #messageWith(messageId = ""): { readonly message?: Raw } {
    const message = this.#messages.all.get(messageId);
    return message === undefined ? {} : { message: this.#messages.payload(message) };
  }

  /** Handles the first response, which must arrive within the time limit. */
  answer(id: string, token: string, body: unknown): ApiReply {
    const interaction = this.all.get(id);
    if (interaction === undefined || interaction.token !== token) return refusals.unknownInteraction();
    if (interaction.answeredWith !== undefined) return refusals.alreadyAcknowledged();
    if (this.#world.now() - interaction.startedAt > firstAnswerMs) return refusals.unknownInteraction();
    const type = isRaw(body) ? body["type"] : undefined;
    if (!Object.values(callback).some((known) => known === type))
      return refusals.invalidForm("type", "Value must be one of {4, 5, 6, 9}.");
    if (type === callback.form) return this.#open(interaction, isRaw(body) ? body["data"] : undefined);
    if (type === callback.message) {
      const data = isRaw(body) && isRaw(body["data"]) ? body["data"] : {};
      const refused = checkMessage(data, [], { isEdit: false });
      if (refused !== undefined) return refused;
    }
    interaction.answeredWith = Number(type);
    if (type !== callback.deferredUpdate)
      interaction.message = this.#messages.createLoading(interaction.channelId);
    return done;
  }

  /** A submitted form cannot open another one. */
  #open(interaction: Interaction, data: unknown): ApiReply {
    const refused = interaction.isForm
      ? refusals.invalidForm("type", "A form cannot open a form.")
      : checkForm(data);
    if (refused !== undefined) return refused;
    interaction.answeredWith = callback.form;
    interaction.form = isRaw(data) ? data : undefined;
    return done;
  }

  /** Edits the response. */
  edit(token: string, body: Raw, files: readonly SentFile[]): ApiReply {
    const interaction = [...this.all.values()].find((one) => one.token === token);
    if (interaction?.message === undefined) return refusals.unknownWebhook();
    if (this.#world.now() - interaction.startedAt > tokenMs) return refusals.expiredToken();
    const refused = checkMessage(body, files, { isEdit: true });
    if (refused !== undefined) return refused;
    this.#messages.change(interaction.message, body);
    return ok(this.#messages.payload(interaction.message));
  }
}

/** Returns the first field of a form, filled in, in the format of Discord's event. */
function filledIn({ opened: { form }, text }: Extract<Doing, { readonly kind: "submit" }>): Raw {
  const [label] = Array.isArray(form?.["components"]) ? form["components"].filter(isRaw) : [];
  const field = isRaw(label?.["component"]) ? label["component"] : {};
  return {
    custom_id: form?.["custom_id"],
    components: [
      { type: 18, id: 1, component: { type: 4, id: 2, custom_id: field["custom_id"], value: text } },
    ],
  };
}
