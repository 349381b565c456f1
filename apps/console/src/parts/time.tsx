import type { ReactNode } from "react";
import { useFormat } from "../words/use-format.ts";

/** A time, relative to the present. A tooltip shows the exact time. */
export function Time({ at }: { at: number }): ReactNode {
  const format = useFormat();
  return (
    <time dateTime={new Date(at).toISOString()} title={format.exactTime(at)}>
      {format.relative(at)}
    </time>
  );
}
