import { type ReactNode, useState } from "react";

interface Props {
  label: string;
  /** Question after the first click. */
  question: string;
  onConfirm: () => void;
}

/** A button that needs two clicks. Moving the focus away resets it. */
export function ConfirmButton({ label, question, onConfirm }: Props): ReactNode {
  const [asked, setAsked] = useState(false);
  const press = () => {
    setAsked(!asked);
    if (asked) onConfirm();
  };
  return (
    <button
      type="button"
      className={asked ? "quiet danger" : "quiet"}
      onClick={press}
      onBlur={() => setAsked(false)}
    >
      {asked ? question : label}
    </button>
  );
}
