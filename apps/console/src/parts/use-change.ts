import { type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query";
import { toProblem } from "./problem.tsx";
import { withRecentSignIn } from "./recent-sign-in.ts";
import { showDone, showProblem } from "./toasts.ts";

interface Options<Input, Result> {
  /** Sends the change to the gateway. */
  run: (input: Input) => Promise<Result>;
  /** Confirmation for the user, if any. */
  done?: string | ((result: Result, input: Input) => string | undefined);
  /** First elements of the keys of the queries that the change affects. */
  refresh: readonly string[];
  /** Shows an error on the page instead of a toast. */
  onProblem?: (error: unknown) => void;
}

/** Changes something on the gateway: confirms or reports the result, and loads the affected queries again. */
export function useChange<Input = void, Result = void>({
  run,
  done,
  refresh,
  onProblem = (error) => showProblem(toProblem(error)),
}: Options<Input, Result>): UseMutationResult<Result, unknown, Input> {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (input) => withRecentSignIn(() => run(input)),
    onSuccess: (result, input) => {
      const message = typeof done === "function" ? done(result, input) : done;
      if (message !== undefined) showDone(message);
    },
    onError: onProblem,
    onSettled: () => Promise.all(refresh.map((key) => queries.invalidateQueries({ queryKey: [key] }))),
  });
}
