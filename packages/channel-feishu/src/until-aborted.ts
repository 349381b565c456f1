/** The promise, or an error once the signal fires; the promise goes on, for others who wait for it. */
export async function untilAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  error: () => Error,
): Promise<T> {
  const { promise: given, reject } = Promise.withResolvers<never>();
  const stop = () => reject(error());
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([promise, given]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
