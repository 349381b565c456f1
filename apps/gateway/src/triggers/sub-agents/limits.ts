import type { SubAgent, TaskCreator } from "./types.ts";

/** Thrown if a task is rejected. The message is for the model. */
export class SubAgentError extends Error {
  override readonly name = "SubAgentError";
  readonly code: "too_deep" | "too_many" | "spent" | "unknown";

  constructor(code: SubAgentError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** @throws SubAgentError if the sub-agent would exceed the maximum depth */
export function checkDepth<Origin>({ depth, limits }: TaskCreator<Origin>): void {
  if (depth < limits.maxDepth) return;
  const why = depth === 0 ? "There are no sub-agents here." : "A sub-agent has none of its own here.";
  throw new SubAgentError("too_deep", `${why} Do the work yourself.`);
}

/** @throws SubAgentError if one more task would exceed a limit */
export function checkNumber<Origin>(
  all: readonly SubAgent<Origin>[],
  { sessionKey, chain, limits }: TaskCreator<Origin>,
): void {
  const open = all.flatMap(({ parentKey, tasks }) =>
    parentKey === sessionKey ? tasks.filter(({ ended }) => ended === undefined) : [],
  );
  if (open.length >= limits.maxAtOnce)
    throw new SubAgentError(
      "too_many",
      `${open.length} tasks of yours have no end yet, which is the most. Wait: you are told of each end.`,
    );
  const given = all.flatMap(({ tasks }) => tasks.filter((task) => task.chain === chain));
  if (given.length >= limits.maxTasks)
    throw new SubAgentError(
      "spent",
      `What you were asked has led to ${given.length} tasks, which is the most. Do the rest yourself, or tell what is missing.`,
    );
}
