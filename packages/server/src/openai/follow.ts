import type { LiveEvent } from "@signalbox/protocol";
import type { ScopedService } from "../scope.ts";
import { ONCE, type Outcome, type Submission, type Submitted } from "../service.ts";
import { isFailure } from "./errors.ts";
import type { Attempt } from "./retries.ts";

/** A message that was submitted, with its answer as it grows. */
export interface Following {
  /** The next piece of text, or how it ended; `undefined` once the client has left. */
  next(): Promise<string | Outcome | undefined>;
  /** The client has left. */
  left(): void;
  /** Nobody looks any more. */
  end(): void;
}

type Refusal = Extract<Submitted, { kind: "refused" }>;

/** The client is gone. One that keeps no conversation here can never read the reply later, so nobody pays for it. */
function leave(service: ScopedService, attempt: Attempt, submission: Submission, hasBegun: boolean): void {
  attempt.left(hasBegun, () => {
    const { agent, conversation } = submission;
    // Its run is stopped in any case; what else it has begun ends by itself, too.
    if (conversation.startsWith(ONCE)) service.abort("api", agent, conversation).catch(() => {});
  });
}

/** Submits a message and follows its run, also one that an earlier attempt has begun. */
export async function follow(
  service: ScopedService,
  attempt: Attempt,
  submission: Submission,
): Promise<Following | Refusal> {
  const sessionKey = service.sessionKey("api", submission.agent, submission.conversation);
  const queue: string[] = [];
  let wake: (() => void) | undefined;
  let mine: string | undefined;
  let gone = false;
  let outcome: Outcome | undefined;
  const see = (event: LiveEvent): void => {
    if (event.type === "run.start" && event.answers?.includes(submission.id)) mine = event.runId;
    if (event.type !== "text.delta" || event.runId !== mine) return;
    queue.push(event.delta);
    wake?.();
  };
  const unsubscribe = service.live.subscribe(sessionKey, see);
  const submitted = await service.submit(submission).catch((error: unknown) => {
    unsubscribe();
    throw error;
  });
  if (submitted.kind === "refused") {
    unsubscribe();
    return submitted;
  }
  if (submitted.kind === "duplicate" && mine === undefined) service.live.running(sessionKey).forEach(see);
  void submitted.done.then((value) => {
    outcome = value;
    wake?.();
  });
  return {
    async next() {
      for (;;) {
        const delta = queue.splice(0).join("");
        if (delta !== "") return delta;
        if (outcome !== undefined || gone) return outcome;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    left() {
      gone = true;
      leave(service, attempt, submission, true);
      wake?.();
    },
    end: unsubscribe,
  };
}

/** Submits a message and waits for its end, for as long as its client does. */
export async function answer(
  service: ScopedService,
  attempt: Attempt,
  submission: Submission,
  client: AbortSignal,
): Promise<Outcome | Refusal> {
  const submitted = await service.submit(submission);
  if (submitted.kind === "refused") return submitted;
  const left = (): void => leave(service, attempt, submission, false);
  if (client.aborted) left();
  else client.addEventListener("abort", left, { once: true });
  return submitted.done;
}

/** Passes text on as it is written; `undefined` once the client has left. */
export async function passOn(
  following: Following,
  send: (text: string) => Promise<void>,
): Promise<Outcome | undefined> {
  let sent = "";
  for (;;) {
    const next = await following.next();
    if (next === undefined) return undefined;
    if (typeof next === "string") {
      sent += next;
      await send(next);
      continue;
    }
    // What was not streamed (the answer to an earlier attempt, a mark that the text was cut) follows in one piece.
    const rest = !isFailure(next) && next.text.startsWith(sent) ? next.text.slice(sent.length) : "";
    if (rest !== "") await send(rest);
    return next;
  }
}
