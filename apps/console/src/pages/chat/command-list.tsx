import type { CommandInfo } from "@signalbox/client";
import type { ReactNode } from "react";
import classes from "./command-list.module.css";
import { useChatWords } from "./words.ts";

interface Props {
  id: string;
  commands: readonly CommandInfo[];
  /** Position of the selected command. */
  selected: number;
  onChoose: (command: CommandInfo) => void;
}

/** Commands that match what the user has written, above the input. */
export function CommandList({ id, commands, selected, onChoose }: Props): ReactNode {
  const words = useChatWords();
  return (
    <div id={id} className={classes["list"]} role="listbox" aria-label={words.commands} tabIndex={-1}>
      {commands.map((command, place) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the input, which names the active option
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are handled by the input
        <div
          key={command.name}
          id={`${id}-${place}`}
          role="option"
          aria-selected={place === selected}
          ref={(element) => {
            if (place === selected) element?.scrollIntoView({ block: "nearest" });
          }}
          // The input keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onChoose(command)}
        >
          <code>/{command.name}</code>
          {command.usage !== undefined && <span className={classes["usage"]}>{command.usage}</span>}
          <span className={classes["about"]}>{command.description}</span>
        </div>
      ))}
    </div>
  );
}
