import { type ChannelContext, isChannelError, isPayload, reasonOf, textAt } from "@signalbox/channel";
import type { DiscordApi } from "../api.ts";
import type { DiscordConfig } from "../config.ts";
import type { InteractionHead } from "../inbound/interaction-head.ts";
import { limits } from "../limits.ts";
import { type Form, renderForm } from "./forms.ts";

/** Responds to commands, clicks and forms. */
export interface Interactions {
  /**
   * Acknowledges an interaction. If it awaits a message, Discord shows a pending response. Never throws: if the
   * acknowledgement is too late, the answer is sent as an ordinary message.
   */
  acknowledge(interaction: InteractionHead, signal: AbortSignal): Promise<void>;
  /** Opens a form. Never throws: if the response is too late, Discord informs the user. */
  openForm(interaction: InteractionHead, form: Form, signal: AbortSignal): Promise<void>;
  /**
   * Replaces the pending response to a command. The same key yields the same message.
   *
   * @returns `undefined` if the command has expired or already has another message
   */
  answer(interactionId: string, answer: CommandAnswer): Promise<unknown>;
}

interface CommandAnswer {
  readonly key: string;
  readonly body: unknown;
  readonly signal: AbortSignal;
}

/** Source: "Receiving and Responding". */
const callback = { deferredMessage: 5, deferredUpdate: 6, form: 9 } as const;

type Ports = Pick<ChannelContext<DiscordConfig>, "cache" | "logger"> & { readonly api: DiscordApi };

export function createInteractions(
  { cache, logger }: Pick<ChannelContext<DiscordConfig>, "cache" | "logger">,
  api: DiscordApi,
): Interactions {
  const ports: Ports = { cache, logger, api };
  /** If an answer is ready early, it waits for the acknowledgement of its command. */
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

/**
 * Sends the first response.
 *
 * @returns true if Discord accepted it
 */
async function respond(
  { api, logger }: Ports,
  { id, token }: InteractionHead,
  body: unknown,
  signal: AbortSignal,
): Promise<boolean> {
  const path = `/interactions/${id}/${encodeURIComponent(token)}/callback` as const;
  const what = "responding to an interaction";
  try {
    await api.call({ what, method: "POST", path, body, ownToken: true, signal });
    return true;
  } catch (error) {
    logger.debug("failed to respond to an interaction", { reason: reasonOf(error) });
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
      what: "responding to a command",
      method: "PATCH",
      path,
      body,
      ownToken: true,
      signal,
    });
  } catch (error) {
    // The token has expired. Discord sometimes also responds with 404 to a valid token.
    if (isChannelError(error) && error.code === "not_found") return undefined;
    throw error;
  }
}
