import { reasonOf } from "@signalbox/agent-core";
import {
  type AttachmentLogger,
  createBlobs,
  createIncoming,
  createOutgoing,
  type Incoming,
  type Inspector,
  type MessageWithFiles,
  type Outgoing,
} from "@signalbox/attachments";
import type { Config } from "@signalbox/config";
import { type Home, pruneSentBlobs } from "@signalbox/home";
import { type AgentWorkspaces, detectEncoding, type GuardedFetch } from "@signalbox/tools";
import type { Account } from "../configure/accounts.ts";
import type { Agents } from "../configure/agents.ts";
import { type ClientFiles, neededFiles, type Unanswered } from "./client-files.ts";
import { createPictureFitter, PICTURES_AS_THEY_ARE, type PictureFitter } from "./images.ts";
import { transcriberOf } from "./transcription.ts";
import type { PayForTranscription } from "./transcription-costs.ts";

export { type ClientFiles, openClientFiles } from "./client-files.ts";

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
  readonly store: Parameters<typeof pruneSentBlobs>[0] & { readonly inbox: Unanswered };
  readonly agents: Pick<Agents, "all" | "get">;
  readonly fetch: GuardedFetch;
  readonly clientFiles: ClientFiles;
  /** Pays for the recordings of a message. Default: they are not counted. */
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
    now,
  });
  return {
    out: createOutgoing({ blobs, folder, fetch, inspector, logger }),
    in: incoming,
    fitPicture,
    async prune() {
      try {
        const removed = await pruneSentBlobs(store, blobs, now);
        if (removed > 0) logger.debug({ removed }, "sent attachments were removed");
        const needed = () => neededFiles(store.inbox);
        await clientFiles.uploads.prune(needed);
        await clientFiles.carried.prune(needed);
      } catch (error) {
        logger.warn({ err: reasonOf(error) }, "old attachments could not be removed");
      }
      await incoming.clear(agents.all.map(({ id }) => id));
    },
  };
}
