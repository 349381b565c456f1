/** At this signal a process that was started with a turn does it. */
export const TURN = "SIGUSR2";

/** Turns the clock of this process on, or back, by so many milliseconds, once it is told to. */
export function turnAtSignal(byMs: number): void {
  const { now } = Date;
  let turnedBy = 0;
  Date.now = () => now() + turnedBy;
  process.once(TURN, () => {
    turnedBy = byMs;
  });
}

/** Sets the clock of this process ahead by so many milliseconds, or back. */
export function skewClock(byMs: number): void {
  const { now } = Date;
  Date.now = () => now() + byMs;
}
