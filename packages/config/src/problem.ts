/** Steps from the top of the configuration to a value, as keys and list positions. */
export type ConfigPath = readonly (string | number)[];

/** Something wrong with the configuration, in terms a person can act on. */
export interface Problem {
  /** An `error` disables the part it belongs to; a `warning` is only told. */
  readonly severity: "error" | "warning";
  readonly file: string;
  /** From 1; absent where the format gives no positions (JSON5) or the key is missing. */
  readonly line?: number;
  /** For instance `agents.list[0].model`. */
  readonly path: string;
  readonly message: string;
  readonly remedy: string;
  /** What does not work because of it, for instance `channel account feishu/main`. */
  readonly disables?: string;
  /** What is written there has no effect. */
  readonly ignored?: true;
}

/** Makes a problem about a value of a file, with its line. */
export type MakeProblem = (path: ConfigPath, about: Omit<Problem, "file" | "line" | "path">) => Problem;

/** Writes a path the way people do: `agents.list[0].model`. */
export function formatPath(path: ConfigPath): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else text += text === "" ? step : `.${step}`;
  }
  return text;
}

/** Reads a path that is written so; undefined for what is none. */
export function parsePath(text: string): ConfigPath | undefined {
  if (!/^[^.[\]]+(?:\.[^.[\]]+|\[\d{1,6}\])*$/.test(text)) return undefined;
  return [...text.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([step, index]) =>
    index === undefined ? step : Number(index),
  );
}

/** One line for a person: place, what is wrong, what to do. */
export function formatProblem(problem: Problem): string {
  const place = problem.line === undefined ? problem.file : `${problem.file}:${problem.line}`;
  const ignored = problem.ignored === true ? " (ignored)" : "";
  const effect = problem.disables === undefined ? ignored : ` (${problem.disables} is disabled)`;
  const field = problem.path === "" ? "" : `${problem.path}: `;
  return `${place}: ${field}${problem.message}${effect}. ${problem.remedy}`;
}

/** Thrown where nothing can start: the file cannot be read or parsed, or `gateway` itself is wrong. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(formatProblem).join("\n"));
    this.problems = problems;
  }
}
