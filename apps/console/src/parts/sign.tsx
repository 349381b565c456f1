import type { ReactNode } from "react";

/** The logo: a railway signal at clear. */
export function Sign(): ReactNode {
  return (
    <svg className="sign" viewBox="8 1 16 31" aria-hidden="true">
      <path d="M16 25v6" className="post" />
      <rect x="9" y="2" width="14" height="24" rx="7" className="box" />
      <circle cx="16" cy="9" r="3.6" className="dark" />
      <circle cx="16" cy="19" r="3.6" className="clear" />
    </svg>
  );
}
