import type { CommandInfo } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useState } from "react";
import { useClient } from "../../gateway.tsx";
import { useLanguage } from "../../words/words.tsx";
import { commandsQuery } from "./queries.ts";

export interface Completion {
  /** Commands that match the text. Empty if nothing is completed. */
  readonly commands: readonly CommandInfo[];
  /** Position of the selected command. */
  readonly selected: number;
  /** Handles a key of the input. Returns true if the key belongs to the completion. */
  onKey(event: KeyboardEvent): boolean;
}

/** Maximum number of commands to suggest. */
const MAX_COMMANDS = 40;

/**
 * Completes the name of a chat command while the text is a slash and the start of a name. The arrow keys select, Tab
 * and Enter choose, and Escape closes the list until the text changes.
 */
export function useCommands(
  agent: string,
  text: string,
  onChoose: (command: CommandInfo) => void,
): Completion {
  const [language] = useLanguage();
  const typed = /^\/(\S*)$/.exec(text)?.[1]?.toLowerCase();
  const { data = [] } = useQuery({
    ...commandsQuery(useClient(), agent, language),
    enabled: typed !== undefined,
  });
  const [selection, setSelection] = useState({ text: "", place: 0 });
  const [closedFor, setClosedFor] = useState<string>();
  const isOpen = typed !== undefined && closedFor !== text;
  const matching = isOpen ? data.filter(({ name }) => name.startsWith(typed)).slice(0, MAX_COMMANDS) : [];
  // A command that is written in full is sent by Enter.
  const commands = matching.length === 1 && matching[0]?.name === typed ? [] : matching;
  const selected = selection.text === text ? Math.min(selection.place, commands.length - 1) : 0;

  const onKey = ({ key, shiftKey }: KeyboardEvent): boolean => {
    const command = commands[selected];
    if (command === undefined) return false;
    switch (key) {
      case "ArrowDown":
      case "ArrowUp": {
        const step = key === "ArrowDown" ? 1 : -1;
        setSelection({ text, place: (selected + step + commands.length) % commands.length });
        return true;
      }
      case "Tab":
      case "Enter":
        if (shiftKey) return false;
        onChoose(command);
        return true;
      case "Escape":
        setClosedFor(text);
        return true;
      default:
        return false;
    }
  };
  return { commands, selected, onKey };
}
