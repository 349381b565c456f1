import { reasonOf } from "@signalbox/agent-core";
import {
  type Blobs,
  createBlobs,
  createIncoming,
  createObjectBlobs,
  createOutgoing,
  type Incoming,
  type Inspector,
  type MessageWithFiles,
  type Outgoing,
} from "@signalbox/attachments";
import { pruneSentBlobs } from "@signalbox/home";
import { type AgentWorkspaces, detectEncoding, extractDocumentText, isDocumentType } from "@signalbox/tools";
import { neededFiles, type Unanswered } from "../configure/client-files.ts";
import type { CurrentConfig } from "../configure/live-config.ts";
import { createTranscriber, type PayForTranscription } from "../configure/transcription.ts";
import type { CoreContext } from "../core-context.ts";
import { createImageFitter, IMAGES_NOT_RESIZED, type ImageFitter } from "./images.ts";

/** Handles incoming and outgoing attachments. */
export interface Media {
  readonly out: Outgoing;
  readonly in: Incoming;
  /** Resizes other images for models, such as images from tools. */
  readonly fitPicture: ImageFitter;
  /** Removes stored files that nothing refers to. Never rejects. */
  prune(): Promise<void>;
}

/** The members of the context that attachments use. Commands create them without a running gateway. */
export interface MediaContext
  extends Pick<CoreContext, "home" | "env" | "objects" | "clientFiles" | "getAccount" | "logger" | "now"> {
  readonly config: { current(): Pick<CurrentConfig, "settings" | "agents"> };
  readonly web: CoreContext["web"];
  readonly store: Parameters<typeof pruneSentBlobs>[0] & { readonly inbox: Unanswered };
}

export interface MediaOptions {
  readonly workspaces: AgentWorkspaces;
  /** Pays for transcribing a message's recordings. Omitted if no budget applies. */
  readonly payForTranscription?: (message: MessageWithFiles) => PayForTranscription;
}

export function createMedia(core: MediaContext, { workspaces, payForTranscription }: MediaOptions): Media {
  const { home, env, objects, config, store, clientFiles, logger, now } = core;
  const { fetch } = core.web;
  const folderBlobs = createBlobs(home.mediaDir);
  const blobs =
    objects === undefined ? folderBlobs : withEarlierBlobs(createObjectBlobs(objects, now), folderBlobs);
  const folder = (shardId: string) => {
    const agent = config.current().agents.getShard(shardId);
    return agent === undefined
      ? Promise.reject(new Error(`there is no agent ${shardId}`))
      : workspaces(agent);
  };
  const limits = () => {
    const { attachments: files, attachmentsMegabytes, attachmentsDays } = config.current().settings.retention;
    return {
      files,
      bytes: attachmentsMegabytes * 1_000_000,
      ms: attachmentsDays === undefined ? undefined : attachmentsDays * 86_400_000,
    };
  };
  const fitPicture = createImageFitter((error) =>
    logger.warn({ err: reasonOf(error) }, `pictures are ${IMAGES_NOT_RESIZED}`),
  );
  const inspector: Inspector = {
    detectEncoding,
    fitImage: fitPicture,
    isDocument: isDocumentType,
    readDocument: extractDocumentText,
  };
  const incoming = createIncoming({
    account: core.getAccount,
    folder,
    limits,
    inspector,
    transcriber: (message) =>
      createTranscriber(config.current().settings, env, { pay: payForTranscription?.(message) }),
    logger,
    now,
  });
  return {
    out: createOutgoing({ blobs, folder, fetch, inspector, logger }),
    in: incoming,
    fitPicture,
    async prune() {
      try {
        const removed =
          (await pruneSentBlobs(store, blobs, now)) +
          (objects === undefined ? 0 : await pruneSentBlobs(store, folderBlobs, now));
        if (removed > 0) logger.debug({ removed }, "sent attachments were removed");
        const needed = () => neededFiles(store.inbox);
        await clientFiles.uploads.prune(needed);
        await clientFiles.carried.prune(needed);
      } catch (error) {
        logger.warn({ err: reasonOf(error) }, "old attachments could not be removed");
      }
      await incoming.clear(config.current().agents.shards.map(({ shardId }) => shardId));
    },
  };
}

/** Adds the blobs of the home to shared ones: those from the time before the gateway shared its files. */
function withEarlierBlobs(shared: Blobs, earlier: Blobs): Blobs {
  return {
    ...shared,
    open: async (id) => (await shared.open(id)) ?? earlier.open(id),
    copy: async (id, file) => (await shared.copy(id, file)) ?? earlier.copy(id, file),
  };
}
