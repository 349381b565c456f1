import { ActionIcon, Textarea, Tooltip } from "@mantine/core";
import { MAX_ATTACHMENTS } from "@signalbox/client";
import { IconArrowUp, IconPaperclip, IconPlayerStopFilled } from "@tabler/icons-react";
import {
  type ClipboardEvent,
  type DragEvent,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useId,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import type { Attachments } from "../../conversation/attachments.ts";
import type { Uploaded } from "../../conversation/item.ts";
import { ChosenFiles } from "./attachment-list.tsx";
import { CommandList } from "./command-list.tsx";
import classes from "./composer.module.css";
import { useCommands } from "./use-commands.ts";
import { useChatWords } from "./words.ts";

interface Props {
  draft: string;
  onDraft: (text: string) => void;
  attachments: Attachments;
  agentId: string;
  agentName: string;
  isBusy: boolean;
  canStop: boolean;
  onSend: (text: string, files: Uploaded[]) => void;
  onStop: () => void;
}

/**
 * Input for messages, with completion of chat commands. Enter sends, Shift+Enter inserts a line break, and Escape stops
 * the agent. Keys that belong to an input method are ignored. Files can be chosen, dropped or pasted.
 */
export function Composer(props: Props): ReactNode {
  const { draft, onDraft, attachments, agentId, agentName, isBusy, canStop, onSend, onStop } = props;
  const words = useChatWords();
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
    if (!matchMedia("(hover: hover)").matches) return;
    field.current?.focus();
    field.current?.setSelectionRange(field.current.value.length, field.current.value.length);
  }, []);

  const write = (next: string) => {
    setText(next);
    onDraft(next);
  };
  const listId = useId();
  const completion = useCommands(agentId, text, ({ name }) => write(`/${name} `));
  const isCompleting = completion.commands.length > 0;
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
    if (!composing && completion.onKey(event)) {
      event.preventDefault();
      return;
    }
    if (event.key === "Escape" && isBusy && canStop && !composing) onStop();
    if (event.key !== "Enter" || event.shiftKey || composing) return;
    event.preventDefault();
    send();
  };

  return (
    <form
      className={classes["composer"]}
      data-over={isOver || undefined}
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
      <div className={classes["box"]}>
        {isCompleting && (
          <CommandList
            id={listId}
            commands={completion.commands}
            selected={completion.selected}
            onChoose={({ name }) => {
              write(`/${name} `);
              field.current?.focus();
            }}
          />
        )}
        <ChosenFiles chosen={chosen} onRemove={(key) => attachments.remove(key)} />
        {areTooMany && (
          <p className={classes["too-many"]} role="alert">
            {words.tooMany(MAX_ATTACHMENTS)}
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
        <Textarea
          ref={field}
          variant="unstyled"
          autosize
          minRows={1}
          maxRows={12}
          value={text}
          aria-label={words.messageTo(agentName)}
          placeholder={words.placeholder(agentName)}
          classNames={{ input: classes["input"] ?? "" }}
          {...(isCompleting && {
            role: "combobox",
            "aria-expanded": true,
            "aria-controls": listId,
            "aria-activedescendant": `${listId}-${completion.selected}`,
          })}
          onChange={(event) => write(event.currentTarget.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        <div className={classes["tools"]}>
          <Tooltip label={words.attach}>
            <ActionIcon size="lg" aria-label={words.attach} onClick={() => picker.current?.click()}>
              <IconPaperclip size={19} stroke={1.7} aria-hidden />
            </ActionIcon>
          </Tooltip>
          <small>{words.hint}</small>
          {isBusy && (
            <ActionIcon
              size="lg"
              variant="light"
              color="red"
              radius="xl"
              aria-label={words.stop}
              onClick={stop}
              disabled={!canStop}
            >
              <IconPlayerStopFilled size={16} aria-hidden />
            </ActionIcon>
          )}
          <ActionIcon
            type="submit"
            size="lg"
            variant="filled"
            color="signal"
            radius="xl"
            aria-label={words.send}
            disabled={!canSend}
          >
            <IconArrowUp size={19} aria-hidden />
          </ActionIcon>
        </div>
      </div>
    </form>
  );
}
