import { join } from "node:path";
import { reasonOf } from "@signalbox/agent-core";
import {
  type AttachmentLogger,
  createBlobs,
  createIncoming,
  createOutgoing,
  createUploads,
  type Incoming,
  type Inspector,
  type MessageWithFiles,
  type Outgoing,
  type Uploads,
} from "@signalbox/attachments";
import { MAX_ATTACHMENT_BYTES } from "@signalbox/channel-web";
import type { Config } from "@signalbox/config";
import { type Home, pruneSentBlobs } from "@signalbox/home";
import { type AgentWorkspaces, detectEncoding, type GuardedFetch } from "@signalbox/tools";
import type { Account } from "../accounts.ts";
import type { Agents } from "../agents.ts";
import { createPictureFitter, PICTURES_AS_THEY_ARE, type PictureFitter } from "./pictures.ts";
import { transcriberOf } from "./transcription.ts";
import type { PayForTranscription } from "./transcription-costs.ts";

/** Attachments of messages, in and out. */
export interface Media {
  readonly out: Outgoing;
  readonly in: Incoming;
  /** For whatever else shows pictures to models. */
  readonly fitPicture: PictureFitter;
  /** Removes what nothing needs any more. Never rejects. */
  prune(): Promise<void>;
}

export interface MediaOptions {
  /** Asked for each file and each message. */
  readonly config: () => Pick<Config, "retention" | "media" | "models">;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: Pick<Home, "mediaDir">;
  readonly workspaces: AgentWorkspaces;
  readonly store: Parameters<typeof pruneSentBlobs>[0];
  readonly agents: Pick<Agents, "all" | "get">;
  readonly fetch: GuardedFetch;
  readonly clientFiles: ClientFiles;
  /** Has the recordings of a message paid for. Default: they count for nobody. */
  readonly payForTranscription?: (message: MessageWithFiles) => PayForTranscription;
  readonly account: (channel: string, account: string) => Account | undefined;
  readonly logger: AttachmentLogger;
  readonly now: () => number;
}

export function createMedia(options: MediaOptions): Media {
  const { config, env, home, workspaces, store, agents, fetch, account, logger, now } = options;
  const { payForTranscription, clientFiles } = options;
  const blobs = createBlobs(home.mediaDir);
  const folder = (agentId: string) => {
    const agent = agents.get(agentId);
    return agent === undefined
      ? Promise.reject(new Error(`there is no agent ${agentId}`))
      : workspaces(agent);
  };
  const kept = () => {
    const { attachments: files, attachmentsMegabytes, attachmentsDays } = config().retention;
    return {
      files,
      bytes: attachmentsMegabytes * 1_000_000,
      ...(attachmentsDays === undefined ? {} : { ms: attachmentsDays * 86_400_000 }),
    };
  };
  const fitPicture = createPictureFitter((error) =>
    logger.warn({ err: reasonOf(error) }, `pictures are ${PICTURES_AS_THEY_ARE}`),
  );
  const inspector: Inspector = { detectEncoding, fitPicture };
  const incoming = createIncoming({
    account,
    folder,
    kept,
    inspector,
    transcriber: (message) => {
      const pay = payForTranscription?.(message);
      return transcriberOf(config(), env, pay === undefined ? {} : { pay });
    },
    logger,
  });
  return {
    out: createOutgoing({ blobs, folder, fetch, inspector, logger }),
    in: incoming,
    fitPicture,
    async prune() {
      try {
        const removed = await pruneSentBlobs(store, blobs, now);
        if (removed > 0) logger.debug({ removed }, "attachments that were sent were removed");
        await clientFiles.uploads.prune();
        await clientFiles.carried.prune();
      } catch (error) {
        logger.warn({ err: reasonOf(error) }, "old attachments could not be removed");
      }
      await incoming.clear(agents.all.map(({ id }) => id));
    },
  };
}

/** Files of the gateway's own clients. */
export interface ClientFiles {
  /** Those that they upload. */
  readonly uploads: Uploads;
  /** Those that their requests hold. */
  readonly carried: Uploads;
}

/** In the home; one process at a time works on them. */
export function openClientFiles({ mediaDir }: Pick<Home, "mediaDir">, now: () => number): ClientFiles {
  const inFolder = (name: string) =>
    createUploads({ dir: join(mediaDir, name), maxBytes: MAX_ATTACHMENT_BYTES, now });
  return { uploads: inFolder("uploads"), carried: inFolder("carried") };
}
