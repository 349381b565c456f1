import { MAX_ATTACHMENTS } from "@signalbox/client";
import {
  type ClipboardEvent,
  type DragEvent,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import type { Attachments } from "../../conversation/attachments.ts";
import type { Uploaded } from "../../conversation/item.ts";
import { useWords } from "../../words/words.tsx";
import { ChosenFiles } from "./attachment-list.tsx";

interface Props {
  draft: string;
  onDraft: (text: string) => void;
  attachments: Attachments;
  agentName: string;
  isBusy: boolean;
  canStop: boolean;
  onSend: (text: string, files: Uploaded[]) => void;
  onStop: () => void;
}

/**
 * Input for messages. Enter sends, Shift+Enter inserts a line break, and Escape stops the agent. Keys that belong to an
 * input method are ignored. Files can be chosen, dropped or pasted.
 */
export function Composer(props: Props): ReactNode {
  const { draft, onDraft, attachments, agentName, isBusy, canStop, onSend, onStop } = props;
  const { chat: words, attachments: fileWords } = useWords();
  const [text, setText] = useState(draft);
  const [isOver, setIsOver] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const chosen = useSyncExternalStore(attachments.watch, attachments.chosen);
  const areTooMany = chosen.length > MAX_ATTACHMENTS;
  const isReady = !areTooMany && chosen.every(({ sent }) => sent !== undefined);
  const canSend = isReady && (text.trim() !== "" || chosen.length > 0);

  useEffect(() => {
    // On a touch screen, the keyboard would cover the conversation.
    if (matchMedia("(hover: hover)").matches) field.current?.focus();
  }, []);

  const write = (next: string) => {
    setText(next);
    onDraft(next);
  };
  const send = () => {
    if (!canSend) return;
    onSend(text.trim(), attachments.take());
    write("");
  };
  const stop = () => {
    onStop();
    // The Stop button disappears with the run, so move the focus first.
    field.current?.focus();
  };
  const choose = (files: FileList | null) => {
    if (files !== null) attachments.add(files);
    field.current?.focus();
  };
  const onPaste = (event: ClipboardEvent) => {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    choose(event.clipboardData.files);
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setIsOver(false);
    choose(event.dataTransfer.files);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // 229: key code that Safari reports for the Enter key that ends a composition.
    const composing = event.nativeEvent.isComposing || event.keyCode === 229;
    if (event.key === "Escape" && isBusy && canStop && !composing) onStop();
    if (event.key !== "Enter" || event.shiftKey || composing) return;
    event.preventDefault();
    send();
  };

  return (
    <form
      className={isOver ? "composer over" : "composer"}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onDragOver={(event) => {
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={onDrop}
    >
      <ChosenFiles chosen={chosen} onRemove={(key) => attachments.remove(key)} />
      {areTooMany && (
        <p className="too-many" role="alert">
          {fileWords.tooMany(MAX_ATTACHMENTS)}
        </p>
      )}
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          choose(event.target.files);
          // Reset the value, so that choosing the same file again fires a change event.
          event.target.value = "";
        }}
      />
      <button
        type="button"
        className="quiet attach"
        aria-label={fileWords.attach}
        title={fileWords.attach}
        onClick={() => picker.current?.click()}
      >
        +
      </button>
      <div className="field" data-text={text}>
        <textarea
          ref={field}
          rows={1}
          value={text}
          aria-label={words.messageTo(agentName)}
          placeholder={words.placeholder(agentName)}
          onChange={(event) => write(event.target.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
      </div>
      {isBusy && (
        <button type="button" className="stop" onClick={stop} disabled={!canStop}>
          {words.stop}
        </button>
      )}
      <button type="submit" disabled={!canSend}>
        {words.send}
      </button>
    </form>
  );
}
