/**
 * Returns the result of `work`, or rejects when the signal fires. The work continues for others who are waiting for it.
 *
 * @param error creates the error of the rejection. Default: the reason of the signal.
 */
export async function rejectOnAbort<T>(
  work: Promise<T>,
  signal: AbortSignal,
  error: () => unknown = () => signal.reason,
): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(error());
  if (signal.aborted) stop();
  // Removed below, because a listener on a long-lived signal would keep `work` in memory.
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
