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
  const why =
    depth === 0 ? "Sub-agents are not available here." : "Sub-agents cannot create sub-agents here.";
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
      `You have reached the maximum of ${open.length} unfinished tasks. Wait for the message that you get when one ends.`,
    );
  const given = all.flatMap(({ tasks }) => tasks.filter((task) => task.chain === chain));
  if (given.length >= limits.maxTasks)
    throw new SubAgentError(
      "spent",
      `This request has reached the maximum of ${given.length} tasks. Do the rest yourself, or say what is missing.`,
    );
}
