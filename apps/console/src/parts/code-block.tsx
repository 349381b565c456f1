import { Button } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useWords } from "../words/words.tsx";
import classes from "./code-block.module.css";

interface Props {
  text: string;
  label: string;
  /** The text with colors. Default: the text without colors. */
  children?: ReactNode;
  /** Wraps long lines instead of scrolling. */
  isWrapped?: boolean;
}

/** Preformatted text, with a Copy button if the browser supports it. */
export function CodeBlock({ text, label, children, isWrapped = false }: Props): ReactNode {
  const { code: words } = useWords();
  const { copy, copied } = useClipboard({ timeout: 1_500 });
  return (
    <figure className={classes["code"]} data-wrapped={isWrapped || undefined}>
      <figcaption>
        <span>{label}</span>
        {"clipboard" in globalThis.navigator && (
          <Button
            variant="subtle"
            color="gray"
            size="compact-xs"
            leftSection={copied ? <IconCheck size={13} aria-hidden /> : <IconCopy size={13} aria-hidden />}
            onClick={() => copy(text)}
          >
            {copied ? words.copied : words.copy}
          </Button>
        )}
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard */}
      <pre tabIndex={0}>
        <code>{children ?? text}</code>
      </pre>
    </figure>
  );
}
