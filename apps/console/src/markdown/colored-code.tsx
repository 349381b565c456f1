import { type ReactNode, useEffect, useState } from "react";
import type { Highlighted } from "./highlight.ts";

/** Longer code has no colors, because coloring it would block the page. */
const MAX_LENGTH = 50_000;

/** Code with colors. Shows plain text until the highlighter is loaded, and for unknown languages. */
export function ColoredCode({ text, language }: { text: string; language: string }): ReactNode {
  const [highlight, setHighlight] = useState<(text: string, language: string) => Highlighted>();
  const isWanted = language !== "" && text.length <= MAX_LENGTH;
  useEffect(() => {
    if (!isWanted) return;
    let isGone = false;
    void import("./highlight.ts").then((loaded) => {
      if (!isGone) setHighlight(() => loaded.highlight);
    });
    return () => {
      isGone = true;
    };
  }, [isWanted]);
  if (!isWanted || highlight === undefined) return text;
  return highlight(text, language).map(({ text: part, kind }, place) => (
    <span key={String(place)} className={kind}>
      {part}
    </span>
  ));
}
