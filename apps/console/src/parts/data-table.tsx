import type { ReactNode } from "react";
import classes from "./data-table.module.css";

export interface Column<Row> {
  /** Unique within the table. On a phone, `actions` has no heading, because its buttons name themselves. */
  id: string;
  /** Heading of the column. */
  label: string;
  cell: (row: Row) => ReactNode;
  /** `end` aligns numbers. */
  align?: "end";
  /** The cell that names the row. Its first link covers the whole row. */
  isMain?: boolean;
  /** Hides the column on phones. */
  isDetail?: boolean;
}

interface Props<Row> {
  /** Name of the table for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
}

/** A table. On a phone, each row is a card. */
export function DataTable<Row>({ label, columns, rows, rowKey }: Props<Row>): ReactNode {
  return (
    <div className={classes["frame"]}>
      <table className={classes["table"]} aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ id, label: heading, align, isDetail }) => (
              <th key={id} scope="col" data-align={align} data-detail={isDetail}>
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              {columns.map(({ id, label: heading, cell, align, isMain, isDetail }) => (
                <td
                  key={id}
                  data-label={id === "actions" ? undefined : heading}
                  data-align={align}
                  data-main={isMain}
                  data-detail={isDetail}
                >
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
