import {
  type Batch,
  createLanes,
  type Dropped,
  type LaneItem,
  type Lanes,
  type QueueSettings,
  type RunHandle,
} from "../src/index.ts";
import { createManualClock, type ManualClock } from "../src/testkit/index.ts";

interface Message extends LaneItem {
  readonly session: string;
  readonly text: string;
  readonly sender: string;
}

interface Running {
  readonly texts: readonly string[];
  readonly summarised: readonly string[];
  readonly handle: RunHandle<Message>;
  /** Takes the items that steer the run. */
  steer(): { readonly texts: readonly string[]; readonly summarised: readonly string[] };
  end(): void;
}

const QUEUE: QueueSettings = { mode: "steer", debounceMs: 0, cap: 20, drop: "summarise" };

/** Lanes whose runs end when the test calls `end`. */
export function laneHarness(
  queue: Partial<QueueSettings> = {},
  maxRuns = 64,
  isPrivileged?: (sender: string) => boolean,
): {
  lanes: Lanes<Message>;
  clock: ManualClock;
  runs: Running[];
  dropped: string[];
  reasons: Dropped<Message>[];
  say(text: string, session?: string, exclusive?: boolean, sender?: string): string;
} {
  const runs: Running[] = [];
  const dropped: string[] = [];
  const reasons: Dropped<Message>[] = [];
  const clock = createManualClock();
  const lanes = createLanes<Message>({
    maxRuns: () => maxRuns,
    clock,
    getKey: ({ session }) => session,
    getQueueSettings: () => ({ ...QUEUE, ...queue }),
    mayShareRun: (a, b) => getPlace(a) === getPlace(b),
    getOwner: (message) => message.sender,
    ...(isPrivileged === undefined ? {} : { isPrivileged: ({ sender }) => isPrivileged(sender) }),
    onDropped(messages, reason) {
      dropped.push(...messages.map((message) => message.text));
      reasons.push(reason);
    },
    run: (batch: Batch<Message>, handle) =>
      new Promise((resolve) => {
        const texts = (messages: readonly Message[]): string[] => messages.map((message) => message.text);
        runs.push({
          texts: texts(batch.items),
          summarised: texts(batch.summarised),
          handle,
          steer() {
            const taken = handle.takeSteering();
            return { texts: texts(taken.items), summarised: texts(taken.summarised) };
          },
          end: resolve,
        });
      }),
  });
  let count = 0;
  return {
    lanes,
    clock,
    runs,
    dropped,
    reasons,
    say(text, session = "s", exclusive = false, sender = session) {
      const id = String(++count).padStart(3, "0");
      lanes.enqueue({ id, session, exclusive, text, sender });
      return id;
    },
  };
}

/** The part of the text after the slash. Messages of one place may share a run. */
function getPlace({ text }: Message): string {
  return text.split("/")[1] ?? "";
}

export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
