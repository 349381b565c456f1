/**
 * What `work` gives; rejects once the signal fires, with its reason unless `error` makes another. The work goes on, for
 * others who wait for it.
 */
export async function untilAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
  error: () => unknown = () => signal.reason,
): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(error());
  if (signal.aborted) stop();
  // A listener would keep what it waits for as long as the signal lives.
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
