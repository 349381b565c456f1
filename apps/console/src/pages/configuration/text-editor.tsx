import { Textarea } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "./configuration.module.css";
import { useConfigurationWords } from "./words.ts";

interface Props {
  text: string;
  isReadOnly: boolean;
  onChange: (text: string) => void;
}

/** The whole file as text. */
export function TextEditor({ text, isReadOnly, onChange }: Props): ReactNode {
  const words = useConfigurationWords();
  return (
    <Textarea
      className={classes["text"] ?? ""}
      label={words.file}
      description={words.fileHelp}
      value={text}
      readOnly={isReadOnly}
      autosize
      minRows={16}
      maxRows={40}
      spellCheck={false}
      autoCapitalize="off"
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
