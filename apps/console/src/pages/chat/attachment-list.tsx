import { CloseButton } from "@mantine/core";
import { IconFile } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Chosen } from "../../conversation/attachments.ts";
import type { Shown } from "../../conversation/item.ts";
import { useFormat } from "../../words/use-format.ts";
import classes from "./attachment-list.module.css";
import { useChatWords } from "./words.ts";

interface ChosenProps {
  chosen: readonly Chosen[];
  onRemove: (key: string) => void;
}

/** Files for the next message with their upload progress. */
export function ChosenFiles({ chosen, onRemove }: ChosenProps): ReactNode {
  const words = useChatWords();
  const format = useFormat();
  if (chosen.length === 0) return null;
  return (
    <ul className={classes["files"]} aria-label={words.chosen}>
      {chosen.map(({ key, name, bytes, preview, share, sent, problem }) => (
        <li key={key} className={classes["file"]} data-refused={problem !== undefined || undefined}>
          {preview === undefined ? <IconFile size={16} aria-hidden /> : <img src={preview} alt="" />}
          <bdi className={classes["name"]}>{name}</bdi>
          <span className={classes["about"]} role={problem === undefined ? undefined : "alert"}>
            {problem?.message ??
              (sent === undefined ? words.uploaded(Math.round(share * 100)) : format.bytes(bytes))}
          </span>
          <CloseButton size="sm" aria-label={words.removeFile(name)} onClick={() => onRemove(key)} />
        </li>
      ))}
    </ul>
  );
}

/** Attachments of a message. Images that were chosen on this page have a preview. */
export function SentFiles({ files }: { files: readonly Shown[] }): ReactNode {
  const words = useChatWords();
  const format = useFormat();
  return (
    <ul className={classes["files"]} aria-label={words.sent}>
      {files.map(({ name, mimeType, bytes, preview }, place) => (
        <li key={String(place)} className={classes["file"]} data-sent>
          {preview === undefined ? (
            <IconFile size={16} aria-hidden />
          ) : (
            <img src={preview} alt={name ?? ""} />
          )}
          <bdi className={classes["name"]}>{name ?? mimeType}</bdi>
          {bytes !== undefined && <span className={classes["about"]}>{format.bytes(bytes)}</span>}
        </li>
      ))}
    </ul>
  );
}
