import { type Modality, reasonOf } from "@signalbox/agent-core";
import { getAllMedia } from "@signalbox/channel";
import { createByteBudget } from "./byte-budget.ts";
import { createInboxFolder, type InboxFolder, type InboxLimits } from "./inbox-folder.ts";
import { type MediaForModel, ModelMedia } from "./media-for-model.ts";
import { type ReceivePorts, receiveFiles } from "./receive-files.ts";
import type { MessageWithFiles, ReceivedFile } from "./received-file.ts";
import type { AttachmentAccount, AttachmentLogger, Folder, Inspector, Transcriber } from "./types.ts";

export interface IncomingOptions {
  /** Returns a running account. */
  readonly account: (channel: string, account: string) => AttachmentAccount | undefined;
  /** Returns the folder of an agent, or the one that the message names: the same object for the same folder. */
  readonly folder: (agentId: string) => Promise<Folder>;
  /** Limits of each agent's inbox. Called whenever an inbox is cleared. */
  readonly limits: () => InboxLimits;
  readonly inspector: Inspector;
  /** Transcribes the recordings of a message. Default: they are not transcribed. */
  readonly transcriber?: (message: MessageWithFiles) => Transcriber | undefined;
  readonly logger: AttachmentLogger;
  /** Limit of downloads in memory over all messages, in bytes. Default 64,000,000. */
  readonly memoryBytes?: number;
  /** The current time in milliseconds, for the age of files. Default: `Date.now`. */
  readonly now?: () => number;
}

/** Downloads attachments of messages once and stores them in the agent's folder. */
export interface Incoming {
  /** Downloads the attachments of a message and returns them in order. Never rejects. */
  take(message: MessageWithFiles): Promise<readonly ReceivedFile[]>;
  /**
   * Returns the attachments of each message in a form that the model accepts, within the limits of one request.
   * Releases their bytes. Never rejects.
   *
   * @param input the kinds of input that the model accepts
   */
  show(messages: readonly MessageWithFiles[], input: readonly Modality[]): Promise<readonly MediaForModel[]>;
  /** Removes files that are too old from the inboxes of agents. Never rejects. */
  clear(agentIds: readonly string[]): Promise<void>;
}

/** Limits of the cache between `take` and `show`. */
const CACHE_LIMITS = { messages: 64, bytes: 64_000_000 };

interface CacheEntry {
  readonly files: Promise<readonly ReceivedFile[]>;
  bytes: number;
}

export function createIncoming(options: IncomingOptions): Incoming {
  const { account, inspector, logger, memoryBytes = 64_000_000, transcriber = () => undefined } = options;
  const folders = createFolders(options);
  const ports: ReceivePorts = {
    account,
    inspector,
    transcriber,
    logger,
    memory: createByteBudget(memoryBytes),
    store: async (agentId, conversation, bytes, extension) =>
      (await folders(agentId)).store(conversation, bytes, extension),
  };
  const cache = new Map<string, CacheEntry>();

  const take: Incoming["take"] = (message) => {
    if (getAllMedia(message.event).length === 0) return Promise.resolve([]);
    const earlier = cache.get(message.id);
    if (earlier !== undefined) return earlier.files;
    const entry: CacheEntry = { files: receiveFiles(ports, message), bytes: 0 };
    cache.set(message.id, entry);
    void entry.files.then((files) => {
      entry.bytes = files.reduce((sum, { bytes }) => sum + (bytes?.byteLength ?? 0), 0);
      evictOldest(cache);
    });
    return entry.files;
  };

  return {
    take,
    async show(messages, input) {
      const media = new ModelMedia(input, inspector);
      const shown: MediaForModel[] = [];
      // One message at a time, so that not all of their bytes are in memory at once.
      for (const message of messages) {
        shown.push(await media.convert(await take(message)));
        // The bytes are needed only once. A resumed run downloads them again.
        cache.delete(message.id);
      }
      return shown;
    },
    async clear(agentIds) {
      // Limits of number and size are enforced when files are stored.
      if (options.limits().ms === undefined) return;
      for (const agentId of agentIds) {
        const folder = await folders(agentId).catch(() => undefined);
        await folder?.clear();
      }
    },
  };
}

/** Returns a function that opens the inbox in the current folder of an agent. */
function createFolders({
  folder,
  limits,
  logger,
  now,
}: IncomingOptions): (agentId: string) => Promise<InboxFolder> {
  const open = new WeakMap<Folder, InboxFolder>();
  return async (agentId) => {
    const files = await folder(agentId);
    const onUncleared = (error: unknown): void =>
      logger.warn({ agent: agentId, err: reasonOf(error) }, "old attachments could not be removed");
    const inbox = open.get(files) ?? createInboxFolder(files, onUncleared, limits, now);
    open.set(files, inbox);
    return inbox;
  };
}

function evictOldest(cache: Map<string, CacheEntry>): void {
  let bytes = [...cache.values()].reduce((sum, entry) => sum + entry.bytes, 0);
  for (const [id, entry] of cache) {
    if (cache.size <= CACHE_LIMITS.messages && bytes <= CACHE_LIMITS.bytes) return;
    cache.delete(id);
    bytes -= entry.bytes;
  }
}
