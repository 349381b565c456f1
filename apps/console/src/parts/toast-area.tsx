import "@mantine/notifications/styles.layer.css";
import { Notifications } from "@mantine/notifications";
import type { ReactNode } from "react";

/** The corner of the page where toasts appear. */
export function ToastArea(): ReactNode {
  return <Notifications position="bottom-right" />;
}
