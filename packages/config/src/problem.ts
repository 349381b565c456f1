/** Keys and list positions from the top of the configuration to a value. */
export type ConfigPath = readonly (string | number)[];

/** A mistake in the configuration, with its place and a remedy. */
export interface Problem {
  /** An `error` disables the part that it belongs to; a `warning` does not. */
  readonly severity: "error" | "warning";
  readonly file: string;
  /** Line number, starting at 1. Absent if it is unknown. */
  readonly line?: number;
  /** Such as `agents.list[0].model`; empty for the whole file. */
  readonly path: string;
  /** Continues a sentence that begins with the path. */
  readonly message: string;
  readonly remedy: string;
  /** The part that it disables, such as `channel account feishu/main`. */
  readonly disables?: string;
  /** Set if the value has no effect. */
  readonly ignored?: true;
}

/** Creates a problem about a value, with its line. */
export type MakeProblem = (path: ConfigPath, about: Omit<Problem, "file" | "line" | "path">) => Problem;

/** Formats a path as `agents.list[0].model`. */
export function formatPath(path: ConfigPath): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else text += text === "" ? step : `.${step}`;
  }
  return text;
}

/** Parses a path such as `agents.list[0].model`. */
export function parsePath(text: string): ConfigPath | undefined {
  if (!/^[^.[\]]+(?:\.[^.[\]]+|\[\d{1,6}\])*$/.test(text)) return undefined;
  return [...text.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([step, index]) =>
    index === undefined ? step : Number(index),
  );
}

/** Formats a problem as one line: place, message and remedy. */
export function formatProblem(problem: Problem): string {
  const place = problem.line === undefined ? problem.file : `${problem.file}:${problem.line}`;
  const ignored = problem.ignored === true ? " (ignored)" : "";
  const effect = problem.disables === undefined ? ignored : ` (${problem.disables} is disabled)`;
  const field = problem.path === "" ? "" : `${problem.path}: `;
  return `${place}: ${field}${problem.message}${effect}. ${problem.remedy}`;
}

/** Thrown if nothing can start: the file cannot be parsed, or its `gateway` section is invalid. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(formatProblem).join("\n"));
    this.problems = problems;
  }
}
