import type { LiveEvent } from "@signalbox/protocol";
import type { ScopedService } from "../scope.ts";
import { ONE_OFF_PREFIX, type Outcome, type Submission, type SubmitResult } from "../service.ts";
import { isFailure } from "./errors.ts";
import type { Attempt } from "./retries.ts";

/** The run of a submitted message, and its answer while it is written. */
export interface FollowedRun {
  /** Returns the next piece of text or the outcome, or undefined once the client has disconnected. */
  next(): Promise<string | Outcome | undefined>;
  /** Reports that the client has disconnected. */
  abandon(): void;
  /** Ends the subscription. */
  end(): void;
}

type Refusal = Extract<SubmitResult, { kind: "refused" }>;

/** Stops the run of a disconnected client if the client could not read the reply later. */
function abandon(service: ScopedService, attempt: Attempt, submission: Submission, hasBegun: boolean): void {
  attempt.abandon(hasBegun, () => {
    const { agent, conversation } = submission;
    // An error is harmless: the run then finishes as if the client had stayed.
    if (conversation.startsWith(ONE_OFF_PREFIX)) service.abort("api", agent, conversation).catch(() => {});
  });
}

/** Submits a message and follows its run, even if an earlier attempt has started it. */
export async function followRun(
  service: ScopedService,
  attempt: Attempt,
  submission: Submission,
): Promise<FollowedRun | Refusal> {
  const sessionKey = service.sessionKey("api", submission.agent, submission.conversation);
  // The texts of earlier turns are not part of an answer in JSON, so it is sent whole.
  const asksForJson = submission.sampling?.json !== undefined;
  const queue: string[] = [];
  let wake: (() => void) | undefined;
  let runId: string | undefined;
  let isAbandoned = false;
  let outcome: Outcome | undefined;
  let text = createRepeatableText();
  const read = (event: LiveEvent): void => {
    if (event.type === "run.start" && event.answers?.includes(submission.id)) {
      if (event.runId === runId) text.repeat();
      else text = createRepeatableText();
      runId = event.runId;
    }
    if (event.type !== "text.delta" || event.runId !== runId || asksForJson) return;
    const added = text.add(event.delta);
    if (added === "") return;
    queue.push(added);
    wake?.();
  };
  const unsubscribe = service.live.subscribe(sessionKey, read);
  const submitted = await service.submit(submission).catch((error: unknown) => {
    unsubscribe();
    throw error;
  });
  if (submitted.kind === "refused") {
    unsubscribe();
    return submitted;
  }
  if (submitted.kind === "duplicate" && runId === undefined) service.live.running(sessionKey).forEach(read);
  void submitted.done.then((value) => {
    outcome = value;
    wake?.();
  });
  return {
    async next() {
      for (;;) {
        const delta = queue.splice(0).join("");
        if (delta !== "") return delta;
        if (outcome !== undefined || isAbandoned) return outcome;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    abandon() {
      isAbandoned = true;
      abandon(service, attempt, submission, true);
      wake?.();
    },
    end: unsubscribe,
  };
}

/**
 * Collects the text of a run. The text starts again if events were lost on their way from another node, or if the run
 * continues on another node.
 */
function createRepeatableText() {
  let sent = "";
  let again: string | undefined;
  return {
    repeat() {
      again = "";
    },
    /** Returns the text that is new. A text that differs from the earlier one starts a new paragraph. */
    add(delta: string): string {
      if (again === undefined) {
        sent += delta;
        return delta;
      }
      again += delta;
      if (sent.startsWith(again)) return "";
      const added = again.startsWith(sent) ? again.slice(sent.length) : `\n\n${again}`;
      sent += added;
      again = undefined;
      return added;
    },
  };
}

/** Submits a message and waits for its outcome. */
export async function waitForOutcome(
  service: ScopedService,
  attempt: Attempt,
  submission: Submission,
  client: AbortSignal,
): Promise<Outcome | Refusal> {
  const submitted = await service.submit(submission);
  if (submitted.kind === "refused") return submitted;
  const onDisconnect = (): void => abandon(service, attempt, submission, false);
  if (client.aborted) onDisconnect();
  else client.addEventListener("abort", onDisconnect, { once: true });
  return submitted.done;
}

/**
 * Sends the text of a run while it is written.
 *
 * @returns the outcome, or undefined if the client has disconnected
 */
export async function forwardText(
  run: FollowedRun,
  send: (text: string) => Promise<void>,
): Promise<Outcome | undefined> {
  let sent = "";
  for (;;) {
    const next = await run.next();
    if (next === undefined) return undefined;
    if (typeof next === "string") {
      sent += next;
      await send(next);
      continue;
    }
    // Text that was not streamed, such as the answer to an earlier attempt, is sent in one piece.
    const rest = !isFailure(next) && next.text.startsWith(sent) ? next.text.slice(sent.length) : "";
    if (rest !== "") await send(rest);
    return next;
  }
}
