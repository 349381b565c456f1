import { createSemaphore } from "../semaphore.ts";
import { getWorkerFile, runInThread } from "../thread.ts";
import { cleanText, extractPageText } from "../web/page.ts";
import type { OfficeKind, OfficeWork } from "./office.ts";

/** The text of a document. Its content is untrusted. */
interface DocumentText {
  readonly text: string;
  /** True if the document has more text. */
  readonly cut: boolean;
}

interface DocumentTextOptions {
  /** Maximum length of the text in UTF-16 units. Default: 100,000. */
  readonly maxChars?: number;
  /** Time limit in milliseconds, including the wait for a thread. Default: 15,000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const OFFICE_KINDS: Readonly<Record<string, OfficeKind>> = {
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "word",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.template": "word",
  "application/vnd.ms-word.document.macroenabled.12": "word",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "excel",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.template": "excel",
  "application/vnd.ms-excel.sheet.macroenabled.12": "excel",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation": "powerpoint",
  "application/vnd.openxmlformats-officedocument.presentationml.slideshow": "powerpoint",
  "application/vnd.ms-powerpoint.presentation.macroenabled.12": "powerpoint",
};

/** Limits the number of threads in the whole process that read Office files. */
const readers = createSemaphore(2);

/** Returns true for the types that `extractDocumentText` reads: PDF, Word, Excel, PowerPoint and HTML. */
export function isDocumentType(mimeType: string): boolean {
  return mimeType === "application/pdf" || mimeType === "text/html" || Object.hasOwn(OFFICE_KINDS, mimeType);
}

/**
 * Returns the text of a document. Documents are read in a thread with limits on time, memory and decompressed size.
 * Macros are not run, and nothing that a document refers to is fetched.
 *
 * @returns undefined if the document is damaged, encrypted, too large or without text
 * @throws the signal's reason if it is aborted
 */
export async function extractDocumentText(
  bytes: Uint8Array,
  mimeType: string,
  options: DocumentTextOptions = {},
): Promise<DocumentText | undefined> {
  const { maxChars = 100_000, timeoutMs = 15_000, signal } = options;
  const limit = AbortSignal.timeout(timeoutMs);
  const kind = Object.hasOwn(OFFICE_KINDS, mimeType) ? OFFICE_KINDS[mimeType] : undefined;
  if (kind === undefined) {
    if (!isDocumentType(mimeType)) return undefined;
    const page = { url: "about:blank", bytes, contentType: mimeType };
    const read = extractPageText(page, { maxChars, parseMs: timeoutMs, signal });
    const { text, cut } = await read.catch(() => ({ text: "", cut: false }));
    signal?.throwIfAborted();
    return text === "" ? undefined : { text, cut };
  }
  const work: OfficeWork = { kind, bytes, maxChars };
  const outcome = await runInThread(getWorkerFile("office-worker", import.meta.url), work, {
    places: readers,
    signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
  });
  signal?.throwIfAborted();
  if (outcome.kind !== "done" || !isDocumentText(outcome.value)) return undefined;
  const text = cleanText(outcome.value.text).toWellFormed();
  return text === "" ? undefined : { text, cut: outcome.value.cut };
}

function isDocumentText(value: unknown): value is DocumentText {
  return typeof value === "object" && value !== null && "text" in value && typeof value.text === "string";
}
