import { type InboxId, parseId } from "@signalbox/store";
import { createLanes } from "../src/path/lane.ts";
import type { Batch, Lanes, LeftOut, QueueSettings, RunHandle, Waiting } from "../src/path/lanes-types.ts";

interface Message extends Waiting {
  readonly text: string;
  readonly sender: string;
}

interface Running {
  readonly texts: readonly string[];
  readonly summarised: readonly string[];
  readonly handle: RunHandle<Message>;
  /** Takes what steers the run. */
  steer(): { readonly texts: readonly string[]; readonly summarised: readonly string[] };
  end(): void;
}

const QUEUE: QueueSettings = { mode: "steer", debounceMs: 0, cap: 20, drop: "summarise" };

/** Lanes whose runs end when the test says so. */
export function laneHarness(
  queue: Partial<QueueSettings> = {},
  maxRuns = 64,
): {
  lanes: Lanes<Message>;
  runs: Running[];
  dropped: string[];
  leftOut: LeftOut<Message>[];
  say(text: string, session?: string, exclusive?: boolean, sender?: string): InboxId;
} {
  const runs: Running[] = [];
  const dropped: string[] = [];
  const leftOut: LeftOut<Message>[] = [];
  const lanes = createLanes<Message>({
    maxRuns,
    queue: () => ({ ...QUEUE, ...queue }),
    together: (a, b) => placeOf(a) === placeOf(b),
    ownerOf: (message) => message.sender,
    leaveOut(messages, why) {
      dropped.push(...messages.map((message) => message.text));
      leftOut.push(why);
    },
    run: (batch: Batch<Message>, handle) =>
      new Promise((resolve) => {
        const texts = (messages: readonly Message[]): string[] => messages.map((message) => message.text);
        runs.push({
          texts: texts(batch.messages),
          summarised: texts(batch.summarised),
          handle,
          steer() {
            const taken = handle.takeSteering();
            return { texts: texts(taken.messages), summarised: texts(taken.summarised) };
          },
          end: resolve,
        });
      }),
  });
  let count = 0;
  return {
    lanes,
    runs,
    dropped,
    leftOut,
    say(text, session = "s", exclusive = false, sender = session) {
      const id = parseId<InboxId>(`01ARZ3NDEKTSV4RRFFQ69G5${String(++count).padStart(3, "0")}`);
      if (id === undefined) throw new Error("no id");
      lanes.enqueue({ id, sessionKey: session, exclusive, text, sender });
      return id;
    },
  };
}

/** What stands behind a slash. */
function placeOf({ text }: Message): string {
  return text.split("/")[1] ?? "";
}

export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
