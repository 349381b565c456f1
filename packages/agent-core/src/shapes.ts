const kept: object[] = [];

/**
 * Keeps objects for the sake of their classes. Where a full collection finds no object of a class, V8 forgets what it
 * has learned of it and throws away the code that relies on it: a program that keeps no agents between its runs would
 * begin anew after each pause (the next hundred turns took some 15 µs each in place of 3). To be called at the first use
 * of a class and not on import, so that bundlers can leave out what a program does not use.
 */
export function keepShapes(...objects: readonly object[]): void {
  kept.push(...objects);
}
