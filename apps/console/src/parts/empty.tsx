import "@mantine/core/styles/EmptyState.layer.css";
import { EmptyState } from "@mantine/core";
import type { Icon } from "@tabler/icons-react";
import type { ReactNode } from "react";
import classes from "./empty.module.css";

interface Props {
  icon: Icon;
  title: string;
  /** The next step for the reader. */
  children?: ReactNode;
  /** A button or link for the next step. */
  action?: ReactNode;
}

/** Shown instead of a list without entries. */
export function Empty({ icon: Picture, title, children, action }: Props): ReactNode {
  return (
    <EmptyState
      className={classes["empty"] ?? ""}
      role="status"
      variant="light"
      icon={<Picture size={24} stroke={1.6} aria-hidden />}
      title={title}
      description={children}
    >
      {action !== undefined && <EmptyState.Actions>{action}</EmptyState.Actions>}
    </EmptyState>
  );
}
