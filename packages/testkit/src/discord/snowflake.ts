const EPOCH = 1_420_070_400_000;

/** Returns the first id of a moment in milliseconds since the epoch. Source: Discord's page on snowflakes. */
export function snowflakeAt(ms: number): bigint {
  return BigInt(Math.max(0, Math.floor(ms) - EPOCH)) << 22n;
}

/** Creates a function that returns increasing ids based on the clock. */
export function createSnowflakes(now: () => number): () => string {
  let last = 0n;
  return () => {
    const next = snowflakeAt(now());
    last = next > last ? next : last + 1n;
    return String(last);
  };
}
