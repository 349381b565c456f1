import { IMAGE_LIMITS, type InputBlock, type Modality, readImageInfo } from "@signalbox/agent-core";
import { decodeText } from "./media-type.ts";
import { isUntrusted, type ReceivedFile } from "./received-file.ts";
import type { DocumentText, Inspector } from "./types.ts";

const MAX_IMAGES = 8;
export const MAX_PDF_BYTES: number = 10_000_000;
const MAX_PDFS = 3;
const MAX_TEXT_BYTES = 1_000_000;
/** Maximum size of an Office document or an HTML page whose text is read. */
const MAX_DOCUMENT_BYTES = 10_000_000;
/** Maximum number of documents of a request whose text is read. Each takes a thread for up to some seconds. */
const MAX_DOCUMENTS = 5;
/** Maximum length of one text and of all texts of a request, in UTF-16 code units. */
const MAX_TEXT_CHARS = 20_000;
const MAX_ALL_TEXT_CHARS = 50_000;
/** Maximum size of the images and documents of one request. */
export const MAX_SHOWN_BYTES: number = MAX_IMAGES * IMAGE_LIMITS.bytes + MAX_PDFS * MAX_PDF_BYTES;

/** Description of a file for a model, with its text if it has one. */
export interface FileForModel {
  /** Its path in the folder; absent if it is not stored. */
  readonly place?: string;
  readonly name?: string;
  readonly type: string;
  /** The form in which it is shown, or the reason why it could not be read or stored. */
  readonly note?: string;
  readonly text?: string;
  /** Set if the text is longer. */
  readonly cut?: boolean;
}

/** The attachments of a message as a model receives them. */
export interface MediaForModel {
  /** Images and documents. */
  readonly blocks: readonly InputBlock[];
  readonly files: readonly FileForModel[];
  /** True if any of it may have been written by someone other than the sender. */
  readonly untrusted: boolean;
}

/** Returns true if a file of this type and size can be shown to a model. */
export function isReadable(mimeType: string, { byteLength }: Uint8Array, { isDocument }: Inspector): boolean {
  if (mimeType.startsWith("image/")) return byteLength <= IMAGE_LIMITS.bytes;
  if (mimeType !== "application/pdf" && isDocument?.(mimeType) === true)
    return byteLength <= MAX_DOCUMENT_BYTES;
  return byteLength <= (mimeType === "application/pdf" ? MAX_PDF_BYTES : MAX_TEXT_BYTES);
}

/** Converts the files of one request into the form that its model accepts, within the limits of a request. */
export class ModelMedia {
  readonly #input: readonly Modality[];
  readonly #inspector: Inspector;
  readonly #counts = { image: 0, file: 0 };
  #documents = 0;
  #textLeft = MAX_ALL_TEXT_CHARS;

  /** @param input the kinds of input that the model accepts */
  constructor(input: readonly Modality[], inspector: Inspector) {
    this.#input = input;
    this.#inspector = inspector;
  }

  /** Converts the files of one message. */
  async convert(files: readonly ReceivedFile[]): Promise<MediaForModel> {
    const shown = files.map((file) => ({ file, block: this.#block(file) }));
    const described: FileForModel[] = [];
    // One at a time, so that their texts share the limit of the request in order.
    for (const { file, block } of shown)
      described.push(
        this.#describe(file, block, block === undefined ? await this.#readDocument(file) : undefined),
      );
    return {
      blocks: shown.flatMap(({ block }) => block ?? []),
      files: described,
      untrusted: files.some(isUntrusted),
    };
  }

  #describe(
    file: ReceivedFile,
    block: InputBlock | undefined,
    document: DocumentText | undefined,
  ): FileForModel {
    const { mimeType, path, name } = file;
    const own = document?.text ?? file.transcript?.text ?? this.#readText(file);
    const text = block === undefined ? own : undefined;
    const isOmitted = text !== undefined && this.#textLeft === 0;
    const note = isOmitted
      ? "its text is omitted, because other texts fill the limit"
      : describeUse(file, block, document);
    return {
      type: mimeType,
      place: path,
      name,
      note,
      ...(text === undefined || isOmitted ? {} : this.#cut(text, document?.cut === true)),
    };
  }

  /** Returns the block in which the model accepts a file, if it does. */
  #block({ mimeType, bytes, name }: ReceivedFile): InputBlock | undefined {
    if (bytes === undefined) return undefined;
    const image = readImageInfo(bytes);
    if (image !== undefined) {
      if (!this.#count("image", MAX_IMAGES)) return undefined;
      return { type: "image", mimeType: image.mimeType, source: base64(bytes) };
    }
    if (mimeType !== "application/pdf" || !this.#count("file", MAX_PDFS)) return undefined;
    return { type: "file", mimeType, name: name?.slice(0, 100), source: base64(bytes) };
  }

  /** Counts one more file of a kind. Returns true if it may be shown. */
  #count(kind: "image" | "file", limit: number): boolean {
    if (!this.#input.includes(kind) || this.#counts[kind] >= limit) return false;
    this.#counts[kind] += 1;
    return true;
  }

  #readText({ mimeType, bytes }: ReceivedFile): string | undefined {
    if (bytes === undefined || mimeType.startsWith("image/") || mimeType === "application/pdf")
      return undefined;
    return decodeText(bytes, this.#inspector);
  }

  /** Returns the text of a document that the model does not accept as it is. Never rejects. */
  async #readDocument({ mimeType, bytes }: ReceivedFile): Promise<DocumentText | undefined> {
    const { isDocument, readDocument } = this.#inspector;
    if (bytes === undefined || isDocument?.(mimeType) !== true || this.#textLeft === 0) return undefined;
    if (this.#documents >= MAX_DOCUMENTS) return undefined;
    this.#documents += 1;
    return readDocument?.(bytes, mimeType).catch(() => undefined);
  }

  #cut(text: string, isShortened: boolean): { readonly text: string; readonly cut: boolean } {
    const length = Math.min(MAX_TEXT_CHARS, this.#textLeft);
    const shown = text.slice(0, length).toWellFormed();
    this.#textLeft -= shown.length;
    return { text: shown, cut: isShortened || text.length > length };
  }
}

function describeUse(
  { note, transcript }: ReceivedFile,
  block: InputBlock | undefined,
  document: DocumentText | undefined,
): string | undefined {
  if (block !== undefined) return `shown to you as ${block.type}`;
  if (document !== undefined) return "its text, without layout and pictures";
  return transcript === undefined ? note : `a transcript of it by ${transcript.by}`;
}

function base64(bytes: Buffer): { readonly kind: "base64"; readonly data: string } {
  return { kind: "base64", data: bytes.toString("base64") };
}
