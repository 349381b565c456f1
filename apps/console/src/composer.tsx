import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";

interface Props {
  draft: string;
  onDraft: (text: string) => void;
  agentName: string;
  busy: boolean;
  canStop: boolean;
  onSend: (text: string) => void;
  onStop: () => void;
}

/** Where one writes. Enter sends, Shift+Enter begins a line, and an input method keeps its own Enter. */
export function Composer(props: Props): ReactNode {
  const { draft, onDraft, agentName, busy, canStop, onSend, onStop } = props;
  const [text, setText] = useState(draft);
  const field = useRef<HTMLTextAreaElement>(null);

  useEffect(() => {
    // On a touch screen the keyboard would cover what one came to read.
    if (matchMedia("(hover: hover)").matches) field.current?.focus();
  }, []);

  const write = (next: string) => {
    setText(next);
    onDraft(next);
  };
  const send = () => {
    if (text.trim() === "") return;
    onSend(text.trim());
    write("");
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // 229: what Safari gives for the Enter that ends a composition.
    const composing = event.nativeEvent.isComposing || event.keyCode === 229;
    if (event.key !== "Enter" || event.shiftKey || composing) return;
    event.preventDefault();
    send();
  };

  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div className="field" data-text={text}>
        <textarea
          ref={field}
          rows={1}
          value={text}
          aria-label={`Message to ${agentName}`}
          placeholder={`Message ${agentName}`}
          onChange={(event) => write(event.target.value)}
          onKeyDown={onKeyDown}
        />
      </div>
      {busy && (
        <button type="button" className="stop" onClick={onStop} disabled={!canStop}>
          Stop
        </button>
      )}
      <button type="submit" disabled={text.trim() === ""}>
        Send
      </button>
    </form>
  );
}
