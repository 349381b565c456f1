import { type Modality, reasonOf } from "@signalbox/agent-core";
import { getAllMedia } from "@signalbox/channel";
import { createByteBudget } from "./byte-budget.ts";
import { type MediaForModel, ModelView } from "./for-model.ts";
import { createInboxFolder, type InboxFolder, type InboxLimits } from "./inbox-folder.ts";
import type { AttachmentAccount, AttachmentLogger, Folder, Inspector, Transcriber } from "./ports.ts";
import { type ReceivePorts, receiveFiles } from "./receive.ts";
import type { MessageWithFiles, ReceivedFile } from "./received.ts";

export interface IncomingOptions {
  /** An account while it runs. */
  readonly account: (channel: string, account: string) => AttachmentAccount | undefined;
  /** The folder of an agent, by its id: the same object as long as it is the same folder. */
  readonly folder: (agentId: string) => Promise<Folder>;
  /** What each folder keeps; asked whenever one is looked through. */
  readonly kept: () => InboxLimits;
  readonly inspector: Inspector;
  /** Transcribes the recordings of a message. Default: they are not transcribed. */
  readonly transcriber?: (message: MessageWithFiles) => Transcriber | undefined;
  readonly logger: AttachmentLogger;
  /** What is being fetched may take so many bytes of memory, all messages together. Default 64,000,000. */
  readonly memoryBytes?: number;
  /** By which files become too old, in milliseconds since the epoch. Default: the machine's clock. */
  readonly now?: () => number;
}

/** Fetches what is attached to messages, once, and keeps it where the agent's tools find it. */
export interface Incoming {
  /** The attachments of a message, in order. Never rejects. */
  take(message: MessageWithFiles): Promise<readonly ReceivedFile[]>;
  /**
   * What a model that reads `input` is shown of each message, within the bounds of one request. Their bytes are not
   * held any more afterwards. Never rejects.
   */
  show(messages: readonly MessageWithFiles[], input: readonly Modality[]): Promise<readonly MediaForModel[]>;
  /** Removes what folders keep for too long. Never rejects. */
  clear(agentIds: readonly string[]): Promise<void>;
}

/** What is remembered between the history's note of a message and the model's look at it. */
const REMEMBERED = { messages: 64, bytes: 64_000_000 };

interface Remembered {
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
    keep: async (agentId, keptIn, bytes, extension) =>
      (await folders(agentId)).keep(keptIn, bytes, extension),
  };
  const remembered = new Map<string, Remembered>();

  const take: Incoming["take"] = (message) => {
    if (getAllMedia(message.event).length === 0) return Promise.resolve([]);
    const earlier = remembered.get(message.id);
    if (earlier !== undefined) return earlier.files;
    const entry: Remembered = { files: receiveFiles(ports, message), bytes: 0 };
    remembered.set(message.id, entry);
    void entry.files.then((files) => {
      entry.bytes = files.reduce((sum, { bytes }) => sum + (bytes?.byteLength ?? 0), 0);
      forgetOldest(remembered);
    });
    return entry.files;
  };

  return {
    take,
    async show(messages, input) {
      const view = new ModelView(input, inspector);
      const shown: MediaForModel[] = [];
      // One message after the other, so that what they hold is not in memory all at once.
      for (const message of messages) {
        shown.push(view.show(await take(message)));
        // Shown once; a run that is taken up again fetches them again.
        remembered.delete(message.id);
      }
      return shown;
    },
    async clear(agentIds) {
      // Number and size only change when files come.
      if (options.kept().ms === undefined) return;
      for (const agentId of agentIds) {
        const folder = await folders(agentId).catch(() => undefined);
        await folder?.clear();
      }
    },
  };
}

/** What keeps what comes in the folder that an agent has at the moment. */
function createFolders({
  folder,
  kept,
  logger,
  now,
}: IncomingOptions): (agentId: string) => Promise<InboxFolder> {
  const open = new WeakMap<Folder, InboxFolder>();
  return async (agentId) => {
    const files = await folder(agentId);
    const onUncleared = (error: unknown): void =>
      logger.warn({ agent: agentId, err: reasonOf(error) }, "old attachments could not be removed");
    const inbox = open.get(files) ?? createInboxFolder(files, onUncleared, kept, now);
    open.set(files, inbox);
    return inbox;
  };
}

function forgetOldest(remembered: Map<string, Remembered>): void {
  let bytes = [...remembered.values()].reduce((sum, entry) => sum + entry.bytes, 0);
  for (const [id, entry] of remembered) {
    if (remembered.size <= REMEMBERED.messages && bytes <= REMEMBERED.bytes) return;
    remembered.delete(id);
    bytes -= entry.bytes;
  }
}
