import type { ReactNode } from "react";

const WIDE = 100;

/** A share as a bar. Hidden from screen readers, because the figure is next to it. */
export function Bar({ share }: { share: number }): ReactNode {
  return (
    <svg className="bar" viewBox={`0 0 ${WIDE} 8`} preserveAspectRatio="none" aria-hidden="true">
      <rect className="track" width={WIDE} height="8" />
      <rect className="span" width={share * WIDE} height="8" />
    </svg>
  );
}
