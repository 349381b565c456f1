import type { InputBlock, Modality } from "@signalbox/agent-core";
import { deadline, type MediaRef } from "@signalbox/channel";
import type { ContextDocument } from "@signalbox/prompt";
import { imageInfo } from "@signalbox/tools";
import type { Agent, Agents } from "../agents.ts";
import { type ByteShare, createByteBudget } from "../byte-budget.ts";
import type { Account } from "../channels.ts";
import { messageOf } from "../errors.ts";
import { createInboxFolder, type InboxFolder, type InboxLimits } from "../inbox-folder.ts";
import type { Logger } from "../log.ts";
import { decodeText, mediaTypeOf } from "../media-type.ts";
import type { Workspaces } from "../workspaces.ts";
import { readBody } from "./read-body.ts";
import type { MessageTicket } from "./ticket.ts";

/** One attachment as it was found to be. */
export interface TakenFile {
  readonly kind: MediaRef["kind"];
  /** As the sender called it. */
  readonly name?: string;
  /** By its content; what the platform said where it could not be fetched. */
  readonly mimeType: string;
  /** Where it lies in the agent's workspace. Absent: it was not kept. */
  readonly path?: string;
  /** Why it was not fetched, or not kept. */
  readonly note?: string;
  /** Absent where it was not fetched, and for kinds no model reads. */
  readonly bytes?: Buffer;
}

/** What a model gets of the attachments besides their names. */
export interface ShownMedia {
  /** Pictures and documents. */
  readonly blocks: readonly InputBlock[];
  readonly files: readonly ContextDocument[];
  /** Something in it was made by others than the sender, as far as anybody knows. */
  readonly taints: boolean;
}

/** Fetches what is attached to messages, once, and keeps it where the agent's tools find it. */
export interface MediaIn {
  /** The attachments of a message, in order. Never rejects. */
  take(ticket: MessageTicket): Promise<readonly TakenFile[]>;
  /** What a model that reads `input` is shown of them. Never rejects. */
  show(tickets: readonly MessageTicket[], input: readonly Modality[]): Promise<ShownMedia>;
  /** Lets go of what workspaces keep for too long. Never rejects. */
  clear(): Promise<void>;
}

export interface MediaInOptions {
  readonly account: (channel: string, account: string) => Account | undefined;
  readonly agents: Agents;
  readonly workspaces: Workspaces;
  /** What each workspace keeps. */
  readonly kept: InboxLimits;
  readonly logger: Logger;
  /** What is being fetched may take so many bytes of memory, all messages together. Default 64,000,000. */
  readonly memoryBytes?: number;
}

/** For all attachments of one message together. */
const FETCH_MS = 20_000;
/** Of one message. */
const MAX_FILES = 20;
/** Of one message. */
const AT_A_TIME = 4;
const MAX_FILE_BYTES = 25_000_000;
/** What vendors take: 5 MB as base64. */
const MAX_IMAGE_BYTES = 3_750_000;
const MAX_IMAGES = 8;
const MAX_PIXELS = 50_000_000;
const MAX_PDF_BYTES = 10_000_000;
const MAX_PDFS = 3;
const MAX_TEXT_BYTES = 1_000_000;
/** What of one message may be remembered for the model: as many pictures and documents as it is shown at most. */
const MAX_USEFUL_BYTES = MAX_IMAGES * MAX_IMAGE_BYTES + MAX_PDFS * MAX_PDF_BYTES;
/** Of one text and of all texts of a run, in UTF-16 units. */
const MAX_TEXT = 20_000;
const MAX_TEXTS = 50_000;
/** Between the history's note of a message and the model's look at it. */
const REMEMBERED = { messages: 64, bytes: 64_000_000 };

export function createMediaIn(options: MediaInOptions): MediaIn {
  const { agents, workspaces, logger, memoryBytes = 64_000_000 } = options;
  const memory = createByteBudget(memoryBytes);
  const taken = new Map<string, { readonly files: Promise<readonly TakenFile[]>; bytes: number }>();

  const folders = new Map<string, Promise<InboxFolder>>();
  const folderOf = (agent: Agent): Promise<InboxFolder> => {
    const known = folders.get(agent.id);
    if (known) return known;
    const made = workspaces(agent).then((workspace) =>
      createInboxFolder(
        workspace,
        (error) => {
          logger.warn({ agent: agent.id, err: messageOf(error) }, "old attachments could not be removed");
        },
        options.kept,
      ),
    );
    folders.set(agent.id, made);
    made.catch(() => folders.delete(agent.id));
    return made;
  };
  const keep = async (agent: Agent | undefined, bytes: Buffer, extension: string): Promise<string> => {
    if (agent === undefined) throw new Error("there is no such agent");
    return (await folderOf(agent)).keep(bytes, extension);
  };

  const takeOne = async (
    { stored: { event, role }, agentId }: MessageTicket,
    media: MediaRef,
    share: ByteShare,
    signal: AbortSignal,
  ): Promise<TakenFile> => {
    const told = { kind: media.kind, ...(media.name === undefined ? {} : { name: media.name }) };
    const declared = typed(media.mimeType);
    const account = options.account(event.channel, event.account);
    const lost = { ...told, mimeType: declared, note: "could not be fetched" };
    if (account?.running.fetchMedia === undefined) return lost;
    // What guests send is not kept, and no model is shown more.
    const own = role === "guest" ? MAX_PDF_BYTES : MAX_FILE_BYTES;
    const most = Math.min(account.definition.capabilities.media?.maxBytes ?? 0, own);
    const tooLarge = { ...told, mimeType: declared, note: `not fetched: over ${most} bytes` };
    if ((media.size ?? 0) > most) return tooLarge;
    let bytes: Buffer | undefined;
    try {
      signal.throwIfAborted();
      const { body, size } = await account.running.fetchMedia(media, signal);
      bytes = await readBody(body, { limit: most, size: size ?? media.size, share, signal });
    } catch (error) {
      logger.warn({ message: event.messageId, err: messageOf(error) }, "an attachment could not be fetched");
      return lost;
    }
    if (bytes === undefined) return tooLarge;
    const { mimeType, extension } = await mediaTypeOf(bytes, media.name);
    const useful = isUseful(mimeType, bytes) ? { bytes } : {};
    // Anybody in an open group is a guest: they must not fill the disk.
    if (role === "guest") return { ...told, mimeType, ...useful };
    try {
      const path = await keep(agents.get(agentId), bytes, extension);
      return { ...told, mimeType, path, ...useful };
    } catch (error) {
      logger.warn({ agent: agentId, err: messageOf(error) }, "an attachment could not be kept");
      return { ...told, mimeType, note: "could not be kept", ...useful };
    }
  };

  const takeAll = async (ticket: MessageTicket): Promise<readonly TakenFile[]> => {
    const { media } = ticket.stored.event;
    const limit = deadline(FETCH_MS);
    const wanted = media.slice(0, MAX_FILES).map((one) => ({ one, share: memory.enter() }));
    const files: TakenFile[] = [];
    const queue = wanted.entries();
    let useful = 0;
    const work = async (): Promise<void> => {
      for (const [index, { one, share }] of queue) {
        const { bytes, ...told } = await takeOne(ticket, one, share, limit.signal);
        const fits = bytes !== undefined && useful + bytes.byteLength <= MAX_USEFUL_BYTES;
        files[index] = fits ? { ...told, bytes } : told;
        if (fits) {
          useful += bytes.byteLength;
          share.done();
        } else share.leave();
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, work));
    limit.end();
    for (const { share } of wanted) share.leave();
    const rest = media.slice(MAX_FILES).map(({ kind, mimeType }) => ({
      kind,
      mimeType: typed(mimeType),
      note: `not fetched: more than ${MAX_FILES} attachments`,
    }));
    return [...files, ...rest];
  };

  const take: MediaIn["take"] = (ticket) => {
    if (ticket.stored.event.media.length === 0) return Promise.resolve([]);
    const known = taken.get(ticket.id);
    if (known) return known.files;
    const entry = { files: takeAll(ticket), bytes: 0 };
    taken.set(ticket.id, entry);
    void entry.files.then((files) => {
      entry.bytes = files.reduce((sum, { bytes }) => sum + (bytes?.byteLength ?? 0), 0);
      let total = [...taken.values()].reduce((sum, one) => sum + one.bytes, 0);
      for (const [key, { bytes }] of taken) {
        if (taken.size <= REMEMBERED.messages && total <= REMEMBERED.bytes) break;
        taken.delete(key);
        total -= bytes;
      }
    });
    return entry.files;
  };

  return {
    async clear() {
      // Number and size only change when files come.
      if (options.kept.ms === undefined) return;
      for (const agent of agents.all)
        await folderOf(agent).then(
          (folder) => folder.clear(),
          () => {},
        );
    },
    take,
    async show(tickets, input) {
      const blocks: InputBlock[] = [];
      const files: ContextDocument[] = [];
      let texts = 0;
      let tainting = false;
      const add = (file: TakenFile): void => {
        tainting ||= taints(file);
        const block = blockOf(file, input, blocks);
        const text = block === undefined ? textOf(file, MAX_TEXTS - texts) : undefined;
        if (block) blocks.push(block);
        texts += text?.text.length ?? 0;
        const shown = block === undefined ? file.note : `shown to you as ${block.type}`;
        files.push({
          type: file.mimeType,
          ...(file.path === undefined ? {} : { place: file.path }),
          ...(file.name === undefined ? {} : { name: file.name }),
          ...(shown === undefined ? {} : { note: shown }),
          ...text,
        });
      };
      // One message after the other, so that what they hold is not in memory all at once.
      for (const ticket of tickets) {
        for (const file of await take(ticket)) add(file);
        // Shown once; a run that is taken up again fetches them again.
        taken.delete(ticket.id);
      }
      return { blocks, files, taints: tainting };
    },
  };
}

/** Whether what a file holds may be the word of others than its sender. A picture is what the sender shows. */
export function taints({ mimeType, bytes, path }: TakenFile): boolean {
  return (bytes !== undefined || path !== undefined) && !mimeType.startsWith("image/");
}

/** One attachment in the text of its message. */
export function mediaNote({ kind, name, mimeType, path, note }: TakenFile): string {
  const parts = [
    `${kind}${name === undefined ? "" : ` ${JSON.stringify(name)}`}`,
    mimeType,
    ...(path === undefined ? [] : [path]),
    ...(note === undefined ? [] : [note]),
  ];
  return `[${parts.join(", ")}]`;
}

/** A type as it may be shown; senders can make their platforms say anything. */
function typed(mimeType: string): string {
  const bare = (mimeType.split(";")[0] ?? "").trim().toLowerCase();
  return /^[a-z0-9.+-]{1,60}\/[a-z0-9.+-]{1,60}$/.test(bare) ? bare : "application/octet-stream";
}

function isUseful(mimeType: string, bytes: Buffer): boolean {
  if (mimeType.startsWith("image/")) return bytes.byteLength <= MAX_IMAGE_BYTES;
  if (mimeType === "application/pdf") return bytes.byteLength <= MAX_PDF_BYTES;
  return bytes.byteLength <= MAX_TEXT_BYTES;
}

/** The block a model takes it as, where it takes one. */
function blockOf(
  { mimeType, bytes, name }: TakenFile,
  input: readonly Modality[],
  before: readonly InputBlock[],
): InputBlock | undefined {
  if (bytes === undefined) return undefined;
  const already = (type: InputBlock["type"]): number => before.filter((block) => block.type === type).length;
  const source = (): { kind: "base64"; data: string } => ({ kind: "base64", data: bytes.toString("base64") });
  const picture = imageInfo(bytes);
  if (picture) {
    const { width, height } = picture;
    // A small file can unpack to a huge picture; one that hides its size may be such a file.
    const sane = width !== undefined && height !== undefined && width * height <= MAX_PIXELS;
    if (!sane || !input.includes("image") || already("image") >= MAX_IMAGES) return undefined;
    return { type: "image", mimeType: picture.mimeType, source: source() };
  }
  if (mimeType !== "application/pdf" || !input.includes("file") || already("file") >= MAX_PDFS)
    return undefined;
  return {
    type: "file",
    mimeType,
    ...(name === undefined ? {} : { name: name.slice(0, 100) }),
    source: source(),
  };
}

function textOf(
  { mimeType, bytes }: TakenFile,
  left: number,
): { readonly text: string; readonly cut: boolean } | undefined {
  const most = Math.min(MAX_TEXT, left);
  if (bytes === undefined || most <= 0 || mimeType.startsWith("image/") || mimeType === "application/pdf")
    return undefined;
  const text = decodeText(bytes);
  if (text === undefined) return undefined;
  return { text: text.slice(0, most).toWellFormed(), cut: text.length > most };
}
