import { type Client, newId, type Problem, type SentAttachment } from "@signalbox/client";
import { toProblem } from "../parts/problem.tsx";
import type { Uploaded } from "./item.ts";

/** A file for the next message. */
export interface Chosen {
  key: string;
  name: string;
  bytes: number;
  /** `data:` URL of an image, for the preview. */
  preview?: string;
  /** Upload progress from 0 to 1. */
  share: number;
  /** Set when the upload is complete. */
  sent?: SentAttachment;
  problem?: Problem;
}

/** Larger images have no preview, because the `data:` URL contains the whole file. */
const LARGEST_PREVIEW = 5_000_000;

/**
 * The files for the next message of a conversation. Uploads start when the user chooses the files and continue while
 * the user visits another page.
 */
export class Attachments {
  readonly #client: Client;
  readonly #uploading = new Map<string, AbortController>();
  readonly #watchers = new Set<() => void>();
  #chosen: readonly Chosen[] = [];

  constructor(client: Client) {
    this.#client = client;
  }

  /** Returns the same array until something changes. */
  readonly chosen = (): readonly Chosen[] => this.#chosen;

  /** Returns a function that removes the listener. */
  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  add(files: Iterable<File>): void {
    for (const file of files) {
      const key = newId();
      this.#set([...this.#chosen, { key, name: file.name, bytes: file.size, share: 0 }]);
      if (file.type.startsWith("image/") && file.size <= LARGEST_PREVIEW)
        void readPreview(file).then((preview) => this.#change(key, { preview }));
      void this.#upload(key, file);
    }
  }

  remove(key: string): void {
    this.#uploading.get(key)?.abort();
    this.#set(this.#chosen.filter((each) => each.key !== key));
  }

  /** Removes and returns the uploaded files, to send them with a message. */
  take(): Uploaded[] {
    const taken = this.#chosen.flatMap(({ sent, preview }) =>
      sent === undefined ? [] : [{ ...sent, ...(preview !== undefined && { preview }) }],
    );
    this.#set([]);
    return taken;
  }

  /** Removes all files and aborts their uploads. */
  close(): void {
    for (const upload of this.#uploading.values()) upload.abort();
  }

  async #upload(key: string, file: File): Promise<void> {
    const stop = new AbortController();
    const { signal } = stop;
    this.#uploading.set(key, stop);
    try {
      const onProgress = (share: number) => this.#change(key, { share });
      this.#change(key, { sent: await this.#client.upload(file, { signal, onProgress }) });
    } catch (error) {
      if (!signal.aborted) this.#change(key, { problem: toProblem(error) });
    } finally {
      this.#uploading.delete(key);
    }
  }

  #change(key: string, next: Partial<Chosen>): void {
    this.#set(this.#chosen.map((each) => (each.key === key ? { ...each, ...next } : each)));
  }

  #set(chosen: readonly Chosen[]): void {
    this.#chosen = chosen;
    for (const watcher of this.#watchers) watcher();
  }
}

/** Reads a file as a `data:` URL. The content security policy forbids `blob:` URLs. */
function readPreview(file: File): Promise<string> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result)));
    reader.readAsDataURL(file);
  });
}
