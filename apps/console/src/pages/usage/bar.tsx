import { Progress } from "@mantine/core";
import type { ReactNode } from "react";

/** A share as a bar. Hidden from screen readers, because the figure is next to it. */
export function Bar({ share, color = "signal" }: { share: number; color?: string }): ReactNode {
  return <Progress value={share * 100} color={color} miw={96} aria-hidden data-bar />;
}
