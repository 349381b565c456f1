import { type Client, newId, type Problem, type SentAttachment } from "@signalbox/client";
import { toProblem } from "../parts/problem.tsx";
import type { Uploaded } from "./item.ts";

/** A file that was chosen for the next message. */
export interface Chosen {
  key: string;
  name: string;
  bytes: number;
  /** A picture, for those who chose it to look at. */
  preview?: string;
  /** How much of it the gateway has, from 0 to 1. */
  share: number;
  /** Once the gateway has all of it. */
  sent?: SentAttachment;
  problem?: Problem;
}

/** Larger pictures are not shown ahead: the whole file is in the address that shows it. */
const LARGEST_PREVIEW = 5_000_000;

/**
 * The files of a conversation's next message. They are sent as soon as they are chosen, so that the message itself need
 * not wait, and go on being sent while another page is looked at.
 */
export class Attachments {
  readonly #client: Client;
  readonly #uploading = new Map<string, AbortController>();
  readonly #watchers = new Set<() => void>();
  #chosen: readonly Chosen[] = [];

  constructor(client: Client) {
    this.#client = client;
  }

  /** The same array until something changes. */
  readonly chosen = (): readonly Chosen[] => this.#chosen;

  /** Returns what ends the watch. */
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

  /** Takes all of them that the gateway has for a message. */
  take(): Uploaded[] {
    const taken = this.#chosen.flatMap(({ sent, preview }) =>
      sent === undefined ? [] : [{ ...sent, ...(preview !== undefined && { preview }) }],
    );
    this.#set([]);
    return taken;
  }

  /** Nobody is to send them any more. */
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

/** As a `data:` address, which is all that the page's policy shows. */
function readPreview(file: File): Promise<string> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result)));
    reader.readAsDataURL(file);
  });
}
