import { isDeepStrictEqual } from "node:util";
import { type MessageEvent, normalizeEvent, normalizeTurn } from "@signalbox/channel";
import { uploadOf, type WebMessage } from "@signalbox/channel-web";
import { createTokenSenderId } from "@signalbox/routing";
import type { Principal, Submission } from "@signalbox/server";
import type { MessageFiles } from "./embedded-files.ts";

type Sender = WebMessage["user"];

/** Name of the gateway's own token. No other token can have this name. */
const OWNER_NAME = "owner";

/**
 * Returns the sender. All requests with the same token have the same sender, regardless of the conversation and `user`
 * that they name. A client therefore cannot change who pays or who appears in the audit log.
 */
export function toSender({ name, role }: Principal): Sender {
  return name === OWNER_NAME
    ? { id: OWNER_NAME }
    : { id: createTokenSenderId(name), name, authenticatedAs: role === "owner" ? "owner" : "member" };
}

/** Owner id for the uploads of a client. */
export function getUploadOwner(client: Principal | undefined): string {
  return client?.name ?? OWNER_NAME;
}

/** Converts a submission to an event of its channel. */
export function clientMessage(submission: Submission, files: MessageFiles): WebMessage {
  const { agent, conversation, id, text, from, instructions, sampling, verbatim, sender } = submission;
  const { uploads = [] } = submission;
  const media = [
    ...files.media,
    ...uploads.map(({ bytes: size, ...file }) => uploadOf({ ...file, size, owner: getUploadOwner(sender) })),
  ];
  return {
    conversation,
    // A message from a hook has no human sender.
    user: sender === undefined ? { id: conversation } : toSender(sender),
    id,
    text,
    media: media.length === 0 ? undefined : media,
    forwardedFrom: from,
    turn: {
      agent,
      instructions,
      history: files.history.length === 0 ? undefined : files.history,
      sampling,
      verbatim,
    },
  };
}

/** Returns true if a stored event is this message. A client may reuse an idempotency key by mistake. */
export function isOfMessage(
  taken: MessageEvent,
  { conversation, user, text, media = [], forwardedFrom, turn }: WebMessage,
): boolean {
  const { forwarded: _, turn: __, ...event } = taken;
  const repeated = normalizeEvent({
    ...event,
    conversation: { ...event.conversation, id: conversation },
    sender: { ...user, isBot: false, isSelf: false },
    text,
    media,
    forwarded: forwardedFrom === undefined ? undefined : { from: forwardedFrom },
    turn: turn === undefined ? undefined : normalizeTurn(turn),
  });
  // The stored event has no undefined members, so compare serialized forms.
  return isDeepStrictEqual(JSON.parse(JSON.stringify(repeated)), taken);
}
