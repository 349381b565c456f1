import { type ReactNode, type Ref, useId, useImperativeHandle, useRef } from "react";
import classes from "./text-editor.module.css";
import { useConfigurationWords } from "./words.ts";

/** Functions of a {@link TextEditor} for components next to it. */
export interface TextEditorHandle {
  /** Selects a line, scrolls to it, and moves the focus there. */
  readonly goTo: (line: number) => void;
}

interface Props {
  text: string;
  isReadOnly: boolean;
  /** Lines with errors, from 1. */
  faultyLines: ReadonlySet<number>;
  handle: Ref<TextEditorHandle>;
  onChange: (text: string) => void;
}

/** The whole file as text, with line numbers. */
export function TextEditor({ text, isReadOnly, faultyLines, handle, onChange }: Props): ReactNode {
  const words = useConfigurationWords();
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const lines = text.split("\n");
  useImperativeHandle(handle, () => ({ goTo: (line) => selectLine(field.current, line) }));
  return (
    <div className={classes["editor"]}>
      <label htmlFor={id}>{words.file}</label>
      <p id={`${id}-help`}>{words.fileHelp}</p>
      <div className={classes["frame"]}>
        <div className={classes["numbers"]} aria-hidden data-line-numbers>
          {lines.map((_, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line has no other identity
            <span key={index} data-faulty={faultyLines.has(index + 1) || undefined}>
              {index + 1}
            </span>
          ))}
        </div>
        <textarea
          ref={field}
          id={id}
          aria-describedby={`${id}-help`}
          wrap="off"
          rows={Math.max(lines.length, MIN_ROWS)}
          value={text}
          readOnly={isReadOnly}
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      </div>
    </div>
  );
}

const MIN_ROWS = 16;

function selectLine(field: HTMLTextAreaElement | null, line: number): void {
  if (field === null) return;
  const lines = field.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  field.focus({ preventScroll: true });
  field.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  const frame = field.parentElement;
  const number = frame?.firstElementChild?.children[line - 1];
  if (!(number instanceof HTMLElement) || frame === null) return;
  field.scrollLeft = 0;
  frame.scrollTop = number.offsetTop - frame.clientHeight / 2;
  frame.scrollIntoView({ block: "nearest" });
}
