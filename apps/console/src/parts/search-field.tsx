import type { ReactNode } from "react";

interface Props {
  /** What is searched, for those who do not see the field, and in the field while it is empty. */
  label: string;
  wanted: string;
  onSearch(wanted: string): void;
}

/** A field for what a list on the page is to be about. */
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
