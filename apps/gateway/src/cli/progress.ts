const TICK_MS = 1_000;

interface Screen {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/**
 * Shows the current action and its duration on a terminal, and clears the line at the end. Prints nothing if there is
 * no terminal. The line appears immediately, because the action may block timers.
 */
export async function withProgress<T>(
  what: string,
  work: () => Promise<T>,
  screen: Screen = process.stderr,
): Promise<T> {
  if (screen.isTTY !== true) return work();
  let seconds = 0;
  const show = (): void => {
    screen.write(`\r${what}…${seconds === 0 ? "" : ` ${seconds} s`}\u001b[K`);
    seconds += 1;
  };
  show();
  const timer = setInterval(show, TICK_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    screen.write("\r\u001b[K");
  }
}
