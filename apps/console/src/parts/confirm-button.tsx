import { type ReactNode, useState } from "react";

interface Props {
  label: string;
  /** What it asks before it does anything. */
  question: string;
  onConfirm: () => void;
}

/** A button that has to be pressed twice; looking elsewhere takes the first time back. */
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
