import { type Client, newId, type Problem, type SentAttachment } from "@signalbox/client";
import { useCallback, useEffect, useRef, useState } from "react";
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

export interface Attachments {
  chosen: readonly Chosen[];
  add: (files: Iterable<File>) => void;
  remove: (key: string) => void;
  /** Takes all of them that the gateway has for a message. */
  take: () => Uploaded[];
}

/** Larger pictures are not shown ahead: the whole file is in the address that shows it. */
const LARGEST_PREVIEW = 5_000_000;

/** Files are sent as soon as they are chosen, so that the message itself need not wait. */
export function useAttachments(client: Client): Attachments {
  const [chosen, setChosen] = useState<readonly Chosen[]>([]);
  const uploading = useRef(new Map<string, AbortController>());

  const change = useCallback((key: string, next: Partial<Chosen>) => {
    setChosen((before) => before.map((each) => (each.key === key ? { ...each, ...next } : each)));
  }, []);

  useEffect(() => {
    const open = uploading.current;
    return () => {
      for (const upload of open.values()) upload.abort();
    };
  }, []);

  const add = useCallback(
    (files: Iterable<File>) => {
      for (const file of files) {
        const key = newId();
        const stop = new AbortController();
        uploading.current.set(key, stop);
        setChosen((before) => [...before, { key, name: file.name, bytes: file.size, share: 0 }]);
        if (file.type.startsWith("image/") && file.size <= LARGEST_PREVIEW)
          void readPreview(file).then((preview) => change(key, { preview }));
        client
          .upload(file, { signal: stop.signal, onProgress: (share) => change(key, { share }) })
          .then((sent) => change(key, { sent }))
          .catch((error: unknown) => stop.signal.aborted || change(key, { problem: toProblem(error) }))
          .finally(() => uploading.current.delete(key));
      }
    },
    [client, change],
  );

  const remove = useCallback((key: string) => {
    uploading.current.get(key)?.abort();
    setChosen((before) => before.filter((each) => each.key !== key));
  }, []);

  const take = useCallback(() => {
    setChosen([]);
    return chosen.flatMap(({ sent, preview }) =>
      sent === undefined ? [] : [{ ...sent, ...(preview !== undefined && { preview }) }],
    );
  }, [chosen]);

  return { chosen, add, remove, take };
}

/** As a `data:` address, which is all that the page's policy shows. */
function readPreview(file: File): Promise<string> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result)));
    reader.readAsDataURL(file);
  });
}
