import { type ReactNode, useEffect, useState } from "react";
import { useWords } from "../words/words.tsx";

/** Preformatted text, with a Copy button if the browser supports it. */
export function CodeBlock({ text, label }: { text: string; label: string }): ReactNode {
  const { chat: words } = useWords();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  return (
    <figure className="code">
      <figcaption>
        <span>{label}</span>
        {"clipboard" in globalThis.navigator && (
          <button type="button" className="quiet" onClick={copy}>
            {copied ? words.copied : words.copy}
          </button>
        )}
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}
