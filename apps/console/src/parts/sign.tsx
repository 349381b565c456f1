import type { ReactNode } from "react";
import classes from "./sign.module.css";

/** The logo: a railway signal at clear. */
export function Sign({ size = 26 }: { size?: number }): ReactNode {
  return (
    <svg className={classes["sign"]} viewBox="8 1 16 31" height={size} width={size / 2} aria-hidden="true">
      <path d="M16 25v6" className={classes["post"]} />
      <rect x="9" y="2" width="14" height="24" rx="7" className={classes["box"]} />
      <circle cx="16" cy="9" r="3.6" className={classes["dark"]} />
      <circle cx="16" cy="19" r="3.6" className={classes["clear"]} />
    </svg>
  );
}
