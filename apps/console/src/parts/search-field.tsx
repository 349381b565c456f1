import { CloseButton, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useWords } from "../words/words.tsx";

interface Props {
  /** Label for screen readers, and placeholder. */
  label: string;
  wanted: string;
  onSearch(wanted: string): void;
  className?: string | undefined;
}

/** A search field that filters a list. The shortcut `/` moves the focus to it. */
export function SearchField({ label, wanted, onSearch, className }: Props): ReactNode {
  const words = useWords();
  return (
    <TextInput
      type="search"
      className={className ?? ""}
      value={wanted}
      aria-label={label}
      placeholder={label}
      data-search
      leftSection={<IconSearch size={16} aria-hidden />}
      rightSection={
        wanted !== "" && <CloseButton size="sm" aria-label={words.clearSearch} onClick={() => onSearch("")} />
      }
      onChange={(event) => onSearch(event.currentTarget.value)}
    />
  );
}
