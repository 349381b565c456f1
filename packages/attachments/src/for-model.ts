import { IMAGE_LIMITS, type InputBlock, type Modality, readImageInfo } from "@signalbox/agent-core";
import { decodeText } from "./media-type.ts";
import type { Inspector } from "./ports.ts";
import { isUntrusted, type ReceivedFile } from "./received.ts";

const MAX_IMAGES = 8;
export const MAX_PDF_BYTES: number = 10_000_000;
const MAX_PDFS = 3;
const MAX_TEXT_BYTES = 1_000_000;
/** Of one text and of all texts of a request, in UTF-16 units. */
const MAX_TEXT = 20_000;
const MAX_TEXTS = 50_000;
/** As many pictures and documents as one request shows at most. */
export const MAX_SHOWN_BYTES: number = MAX_IMAGES * IMAGE_LIMITS.bytes + MAX_PDFS * MAX_PDF_BYTES;

/** What a model is told of a file, and its text where it is one. */
export interface FileForModel {
  /** Its path in the folder. Absent where it was not kept. */
  readonly place?: string;
  readonly name?: string;
  readonly type: string;
  /** How it is shown, or why it could not be read or kept. */
  readonly note?: string;
  readonly text?: string;
  /** There is more of the text. */
  readonly cut?: boolean;
}

/** What a model gets of a message's attachments in addition to their names. */
export interface MediaForModel {
  /** Pictures and documents. */
  readonly blocks: readonly InputBlock[];
  readonly files: readonly FileForModel[];
  /** Something in it was made by others than the sender, as far as anybody knows. */
  readonly untrusted: boolean;
}

/** Whether a file of that type and size may be shown to a model. */
export function isReadable(mimeType: string, { byteLength }: Uint8Array): boolean {
  if (mimeType.startsWith("image/")) return byteLength <= IMAGE_LIMITS.bytes;
  return byteLength <= (mimeType === "application/pdf" ? MAX_PDF_BYTES : MAX_TEXT_BYTES);
}

/** Turns the files of one request into what its model reads, within the bounds of a request. */
export class ModelView {
  readonly #input: readonly Modality[];
  readonly #inspector: Inspector;
  readonly #count = { image: 0, file: 0 };
  #textLeft = MAX_TEXTS;

  /** @param input what the model reads */
  constructor(input: readonly Modality[], inspector: Inspector) {
    this.#input = input;
    this.#inspector = inspector;
  }

  /** The files of one message. */
  show(files: readonly ReceivedFile[]): MediaForModel {
    const shown = files.map((file) => ({ file, block: this.#block(file) }));
    return {
      blocks: shown.flatMap(({ block }) => block ?? []),
      files: shown.map(({ file, block }) => this.#describe(file, block)),
      untrusted: files.some(isUntrusted),
    };
  }

  #describe(file: ReceivedFile, block: InputBlock | undefined): FileForModel {
    const { mimeType, path, name } = file;
    const text = block === undefined ? (file.transcript?.text ?? this.#written(file)) : undefined;
    const isLeftOut = text !== undefined && this.#textLeft === 0;
    const how = isLeftOut ? "its text is left out: there is too much of others" : noteOf(file, block);
    return {
      type: mimeType,
      ...(path === undefined ? {} : { place: path }),
      ...(name === undefined ? {} : { name }),
      ...(how === undefined ? {} : { note: how }),
      ...(text === undefined || isLeftOut ? {} : this.#shown(text)),
    };
  }

  /** The block a model takes a file as, where it takes one. */
  #block({ mimeType, bytes, name }: ReceivedFile): InputBlock | undefined {
    if (bytes === undefined) return undefined;
    const picture = readImageInfo(bytes);
    if (picture !== undefined) {
      if (!this.#has("image", MAX_IMAGES)) return undefined;
      return { type: "image", mimeType: picture.mimeType, source: base64(bytes) };
    }
    if (mimeType !== "application/pdf" || !this.#has("file", MAX_PDFS)) return undefined;
    const title = name === undefined ? {} : { name: name.slice(0, 100) };
    return { type: "file", mimeType, ...title, source: base64(bytes) };
  }

  /** Whether one more of a kind may be shown; counts it. */
  #has(kind: "image" | "file", most: number): boolean {
    if (!this.#input.includes(kind) || this.#count[kind] >= most) return false;
    this.#count[kind] += 1;
    return true;
  }

  /** What stands in a file that is text. */
  #written({ mimeType, bytes }: ReceivedFile): string | undefined {
    if (bytes === undefined || mimeType.startsWith("image/") || mimeType === "application/pdf")
      return undefined;
    return decodeText(bytes, this.#inspector);
  }

  #shown(text: string): { readonly text: string; readonly cut: boolean } {
    const most = Math.min(MAX_TEXT, this.#textLeft);
    const shown = text.slice(0, most).toWellFormed();
    this.#textLeft -= shown.length;
    return { text: shown, cut: text.length > most };
  }
}

function noteOf({ note, transcript }: ReceivedFile, block: InputBlock | undefined): string | undefined {
  if (block !== undefined) return `shown to you as ${block.type}`;
  return transcript === undefined ? note : `what is said in it, as ${transcript.by} wrote it down`;
}

function base64(bytes: Buffer): { readonly kind: "base64"; readonly data: string } {
  return { kind: "base64", data: bytes.toString("base64") };
}
