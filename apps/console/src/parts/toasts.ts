import { showNotification } from "@mantine/notifications";
import type { Problem } from "@signalbox/client";

/** Confirms a change in a corner of the page. It disappears after a few seconds. */
export function showDone(message: string): void {
  showNotification({ message, color: "signal", role: "status", autoClose: 5_000 });
}

/** Reports an error in a corner of the page. It stays until it is dismissed. */
export function showProblem({ message, remedy }: Problem): void {
  showNotification({ title: message, message: remedy ?? "", color: "red", autoClose: false });
}
