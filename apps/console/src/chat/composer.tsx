import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { useWords } from "../words/words.tsx";

interface Props {
  draft: string;
  onDraft: (text: string) => void;
  agentName: string;
  busy: boolean;
  canStop: boolean;
  onSend: (text: string) => void;
  onStop: () => void;
}

/**
 * Where one writes. Enter sends, Shift+Enter begins a line, Escape stops the agent, and an input method keeps
 * its own keys.
 */
export function Composer(props: Props): ReactNode {
  const { draft, onDraft, agentName, busy, canStop, onSend, onStop } = props;
  const { chat: words } = useWords();
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
  const stop = () => {
    onStop();
    // The button goes with the run, and the focus would be lost with it.
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // 229: what Safari gives for the Enter that ends a composition.
    const composing = event.nativeEvent.isComposing || event.keyCode === 229;
    if (event.key === "Escape" && busy && canStop && !composing) onStop();
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
          aria-label={words.messageTo(agentName)}
          placeholder={words.placeholder(agentName)}
          onChange={(event) => write(event.target.value)}
          onKeyDown={onKeyDown}
        />
      </div>
      {busy && (
        <button type="button" className="stop" onClick={stop} disabled={!canStop}>
          {words.stop}
        </button>
      )}
      <button type="submit" disabled={text.trim() === ""}>
        {words.send}
      </button>
    </form>
  );
}
