import { StoreError } from "./errors.ts";
import type { DayUsage, ModelRunUsage, RunUsage, UsageGroup } from "./types/usage.ts";

type Figure = keyof RunUsage;

/** One value for each usage figure. */
export type Figures<V> = Record<Figure, V>;

/** Maps every usage figure to a value. This is the only list of usage figures. */
export function eachFigure<V>(of: (figure: Figure) => V): Figures<V> {
  return {
    modelCalls: of("modelCalls"),
    inputTokens: of("inputTokens"),
    outputTokens: of("outputTokens"),
    cacheReadTokens: of("cacheReadTokens"),
    cacheWriteTokens: of("cacheWriteTokens"),
    costMicros: of("costMicros"),
  };
}

/** The usage of a run, once as reported and once with 0 for missing figures. */
export interface CheckedUsage {
  readonly reported: Figures<number | null>;
  readonly counted: Figures<number>;
}

/**
 * Checks that every figure is a non-negative integer, so that sums are exact.
 *
 * @throws StoreError `invalid`
 */
export function checkUsage(usage: RunUsage): CheckedUsage {
  for (const [name, value] of Object.entries(usage)) {
    if (value !== undefined && (!Number.isSafeInteger(value) || value < 0)) {
      throw new StoreError(
        "invalid",
        `The usage figure ${name} is ${value}: it must be a whole number, 0 or more.`,
      );
    }
  }
  const filled = <V>(absent: V): Figures<number | V> => eachFigure((figure) => usage[figure] ?? absent);
  return { reported: filled(null), counted: filled(0) };
}

/** The usage of one model, and 1 run for the model that the run called last. */
export interface CheckedModelUsage extends Figures<number> {
  readonly model: string;
  readonly runs: number;
}

/**
 * Checks the usage of the models of a run like {@link checkUsage}.
 *
 * @throws StoreError `invalid`
 */
export function checkModelUsage(models: readonly ModelRunUsage[]): CheckedModelUsage[] {
  return models.map(({ model, ...usage }, place) => {
    if (model === "") throw new StoreError("invalid", "A model of a run's usage has no name.");
    return { model, runs: place === models.length - 1 ? 1 : 0, ...checkUsage(usage).counted };
  });
}

/**
 * Adds the usage without a known model to groups by model. Runs have none if they ended before models were recorded, or
 * if they called no model.
 *
 * @param all groups with the whole usage, by another property
 * @returns the groups, sorted by name; the one without a name is the first
 */
export function addUnknownModel<G extends UsageGroup>(groups: readonly G[], all: readonly G[]): readonly G[] {
  const [first] = all;
  if (first === undefined) return groups;
  const sum = (of: readonly G[], figure: Figure | "runs") =>
    of.reduce((total, group) => total + group[figure], 0);
  const rest = (figure: Figure | "runs") => Math.max(0, sum(all, figure) - sum(groups, figure));
  const unknown = { runs: rest("runs"), ...eachFigure(rest) };
  const isEmpty = Object.values(unknown).every((value) => value === 0);
  return isEmpty ? groups : [{ ...first, by: "", ...unknown }, ...groups];
}

/** Like {@link addUnknownModel} for each day. Days and groups are sorted. */
export function addUnknownModelByDay(groups: readonly DayUsage[], all: readonly DayUsage[]): DayUsage[] {
  const byDay = Map.groupBy(groups, ({ day }) => day);
  return [...Map.groupBy(all, ({ day }) => day)].flatMap(([day, ofDay]) =>
    addUnknownModel(byDay.get(day) ?? [], ofDay),
  );
}

/** Returns the day (UTC) of a time in milliseconds. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
