import type { ReactNode } from "react";
import type { Chosen } from "../../conversation/attachments.ts";
import type { Shown } from "../../conversation/item.ts";
import { useFormat } from "../../words/use-format.ts";
import { useWords } from "../../words/words.tsx";

/** Files for the next message with their upload progress. */
export function ChosenFiles({
  chosen,
  onRemove,
}: {
  chosen: readonly Chosen[];
  onRemove: (key: string) => void;
}): ReactNode {
  const { attachments: words } = useWords();
  const format = useFormat();
  if (chosen.length === 0) return null;
  return (
    <ul className="files chosen" aria-label={words.chosen}>
      {chosen.map(({ key, name, bytes, preview, share, sent, problem }) => (
        <li key={key} className={problem === undefined ? "file" : "file refused"}>
          {preview !== undefined && <img src={preview} alt="" />}
          <bdi className="file-name">{name}</bdi>
          <span className="help" role={problem === undefined ? undefined : "alert"}>
            {problem?.message ??
              (sent === undefined ? words.sending(Math.round(share * 100)) : format.bytes(bytes))}
          </span>
          <button
            type="button"
            className="quiet"
            aria-label={words.remove(name)}
            onClick={() => onRemove(key)}
          >
            ✕
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Attachments of a message. Images that were chosen on this page have a preview. */
export function SentFiles({ files }: { files: readonly Shown[] }): ReactNode {
  const { attachments: words } = useWords();
  const format = useFormat();
  return (
    <ul className="files" aria-label={words.sent}>
      {files.map(({ name, mimeType, bytes, preview }, place) => (
        <li key={String(place)} className="file">
          {preview !== undefined && <img src={preview} alt={name ?? ""} />}
          <span className="file-name">{name ?? mimeType}</span>
          {bytes !== undefined && <span className="help">{format.bytes(bytes)}</span>}
        </li>
      ))}
    </ul>
  );
}
