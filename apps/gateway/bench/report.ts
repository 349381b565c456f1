/** Figures of one kind, in the unit their row names. */
export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly p99: number;
  readonly count: number;
}

export function now(): number {
  return performance.timeOrigin + performance.now();
}

export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { min: at(0), median: at(0.5), p99: at(0.99), count: sorted.length };
}

export function one(value: number): Spread {
  return { min: value, median: value, p99: value, count: 1 };
}

/** A figure that has to keep to a mark. */
interface Mark {
  readonly atMost?: number;
  readonly atLeast?: number;
  /** Default `median`. */
  readonly of?: "median" | "p99";
}

export interface Row {
  readonly name: string;
  readonly ours: Spread;
  readonly floor?: { readonly name: string; readonly value: Spread };
  readonly marks?: readonly Mark[];
}

const missed: string[] = [];

/** Prints a row: the figure, its ratio to the floor of the same run, and what it has to keep to. */
export function row({ name, ours, floor, marks = [] }: Row): void {
  const figures =
    ours.count === 1
      ? ours.median.toFixed(1)
      : `${ours.median.toFixed(1)} (min ${ours.min.toFixed(1)}, p99 ${ours.p99.toFixed(1)})`;
  const against =
    floor === undefined
      ? ""
      : `  ${(ours.median / floor.value.median).toFixed(2)} × ${floor.value.median.toFixed(1)} (${floor.name})`;
  const told = marks.map((mark) => {
    const value = ours[mark.of ?? "median"];
    const kept = value <= (mark.atMost ?? Number.POSITIVE_INFINITY) && value >= (mark.atLeast ?? 0);
    const limit = mark.atMost === undefined ? `${mark.atLeast} at least` : `${mark.atMost} at most`;
    const text = `${mark.of === "p99" ? "p99 " : ""}${limit}: ${kept ? "kept" : "MISSED"}`;
    if (!kept) missed.push(`${name}: ${value.toFixed(1)}, ${text}`);
    return text;
  });
  console.log(`${name.padEnd(50)} ${figures}${against}${told.length === 0 ? "" : `  [${told.join("; ")}]`}`);
}

/** Prints which marks this run has missed. */
export function verdict(): void {
  console.log(missed.length === 0 ? "\nEvery mark is kept." : `\nMissed:\n  ${missed.join("\n  ")}`);
}
