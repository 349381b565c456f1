import type { ReactNode } from "react";
import classes from "./figures.module.css";

export interface Figure {
  name: string;
  value: ReactNode;
  /** A second line, for instance a comparison. */
  note?: ReactNode;
}

/** Important numbers of a page, side by side. */
export function Figures({ label, figures }: { label: string; figures: readonly Figure[] }): ReactNode {
  return (
    <section aria-label={label}>
      <dl className={classes["figures"]}>
        {figures.map(({ name, value, note }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
            {note !== undefined && <dd className={classes["note"]}>{note}</dd>}
          </div>
        ))}
      </dl>
    </section>
  );
}
