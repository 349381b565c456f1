import { type ChannelContext, isChannelError, isPayload, reasonOf, textAt } from "@signalbox/channel";
import type { DiscordApi } from "../api.ts";
import type { DiscordConfig } from "../config.ts";
import type { InteractionHead } from "../inbound/interaction-head.ts";
import { limits } from "../limits.ts";
import { type Form, renderForm } from "./forms.ts";

/** Commands, clicks and forms that Discord waits for an answer to. */
export interface Interactions {
  /**
   * Tells Discord that it was taken: what awaits a message shows that one is being written, a click nothing. Never
   * throws: what comes too late is answered by an ordinary message.
   */
  acknowledge(interaction: InteractionHead, signal: AbortSignal): Promise<void>;
  /** Shows a form to whoever clicked. Never throws: where it comes too late, Discord says so to them. */
  openForm(interaction: InteractionHead, form: Form, signal: AbortSignal): Promise<void>;
  /**
   * Writes the answer to a command where it waits for it. Undefined where that is not possible any more, or another
   * message stands there. The same key writes the same message.
   */
  answer(interactionId: string, answer: CommandAnswer): Promise<unknown>;
}

interface CommandAnswer {
  readonly key: string;
  readonly body: unknown;
  readonly signal: AbortSignal;
}

/** Source: Discord's page on responding to interactions. */
const callback = { deferredMessage: 5, deferredUpdate: 6, form: 9 } as const;

type Ports = Pick<ChannelContext<DiscordConfig>, "cache" | "logger"> & { readonly api: DiscordApi };

export function createInteractions(
  { cache, logger }: Pick<ChannelContext<DiscordConfig>, "cache" | "logger">,
  api: DiscordApi,
): Interactions {
  const ports: Ports = { cache, logger, api };
  /** An answer that is ready before Discord has said so much as "taken" waits for that. */
  const beingAcknowledged = new Map<string, Promise<void>>();

  return {
    async acknowledge(interaction, signal) {
      const acknowledged = acknowledge(ports, interaction, signal);
      beingAcknowledged.set(interaction.id, acknowledged);
      await acknowledged;
      beingAcknowledged.delete(interaction.id);
    },

    async openForm(interaction, form, signal) {
      await respond(ports, interaction, { type: callback.form, data: renderForm(form) }, signal);
    },

    async answer(interactionId, answer) {
      await beingAcknowledged.get(interactionId);
      return writeAnswer(ports, interactionId, answer);
    },
  };
}

const keyOf = (id: string): string => `interaction/${id}`;

/** Whether Discord took it as the first answer. */
async function respond(
  { api, logger }: Ports,
  { id, token }: InteractionHead,
  body: unknown,
  signal: AbortSignal,
): Promise<boolean> {
  const path = `/interactions/${id}/${encodeURIComponent(token)}/callback` as const;
  const what = "answering an interaction";
  try {
    await api.call({ what, method: "POST", path, body, ownToken: true, signal });
    return true;
  } catch (error) {
    logger.debug("an interaction could not be acknowledged", { reason: reasonOf(error) });
    return false;
  }
}

async function acknowledge(ports: Ports, interaction: InteractionHead, signal: AbortSignal): Promise<void> {
  const { id, token, awaitsMessage, applicationId } = interaction;
  const type = awaitsMessage ? callback.deferredMessage : callback.deferredUpdate;
  const isTaken = await respond(ports, interaction, { type }, signal);
  if (isTaken && awaitsMessage)
    await ports.cache.set(keyOf(id), { token, applicationId }, limits.interactionMs);
}

async function writeAnswer(
  { api, cache }: Ports,
  interactionId: string,
  { key, body, signal }: CommandAnswer,
): Promise<unknown> {
  const waiting = await cache.get(keyOf(interactionId));
  const token = isPayload(waiting) ? textAt(waiting, "token") : undefined;
  const applicationId = isPayload(waiting) ? textAt(waiting, "applicationId") : undefined;
  const usedBy = isPayload(waiting) ? textAt(waiting, "usedBy") : undefined;
  if (token === undefined || applicationId === undefined) return undefined;
  if (usedBy !== undefined && usedBy !== key) return undefined;
  await cache.set(keyOf(interactionId), { token, applicationId, usedBy: key }, limits.interactionMs);
  const path = `/webhooks/${applicationId}/${encodeURIComponent(token)}/messages/@original` as const;
  try {
    return await api.call({
      what: "answering a command",
      method: "PATCH",
      path,
      body,
      ownToken: true,
      signal,
    });
  } catch (error) {
    // Tokens end, and some that should be good are not found.
    if (isChannelError(error) && error.code === "not_found") return undefined;
    throw error;
  }
}
