/** Below the time limit of a test, so that the failure names the state. */
const LONGEST_MS = 200_000;

/** Waits until something is so; long enough for a busy machine, and named in the failure. */
export async function eventually(check: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + LONGEST_MS;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
