import type { ReactNode } from "react";

interface Props {
  /** Label for screen readers, and placeholder. */
  label: string;
  wanted: string;
  onSearch(wanted: string): void;
}

/** A search field that filters a list. */
export function SearchField({ label, wanted, onSearch }: Props): ReactNode {
  return (
    <input
      type="search"
      value={wanted}
      aria-label={label}
      placeholder={label}
      onChange={(event) => onSearch(event.target.value)}
    />
  );
}
