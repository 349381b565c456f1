import { extractText, getDocumentProxy, getMeta } from "unpdf";

/** The text of a PDF. */
export interface PdfText {
  readonly text: string;
  readonly title?: string;
}

/**
 * Returns the text of a PDF, page by page, or an empty string if its pages are images. Only loaded in a worker thread.
 */
export async function extractPdfText(bytes: Uint8Array): Promise<PdfText> {
  const document = await getDocumentProxy(new Uint8Array(bytes));
  const { totalPages, text } = await extractText(document, { mergePages: false });
  const { info } = await getMeta(document).catch(() => ({ info: {} }));
  const title: unknown = Reflect.get(info, "Title");
  const pages = text.map((page, index) => `[page ${index + 1} of ${totalPages}]\n${page.trim()}`);
  return {
    text: text.some((page) => page.trim() !== "") ? pages.join("\n\n") : "",
    ...(typeof title === "string" && title.trim() !== "" ? { title } : {}),
  };
}
