import type { LiveEvent } from "@signalbox/protocol";

/** Maximum size of the events that are kept in addition to the current run, in characters. */
const MAX_CHARS = 200_000;

/** An event of a session, and the position after it. */
export interface LoggedEvent {
  readonly event: LiveEvent;
  readonly cursor: string;
}

/** The first events for a viewer. */
export interface ResumeResult {
  /** True if `events` are all events since the viewer's cursor; false if they are those of the current run. */
  readonly resumed: boolean;
  readonly events: readonly LoggedEvent[];
  /** The position after all events. */
  readonly cursor: string;
}

interface LoggedRun {
  readonly id: string;
  readonly start: number;
}

interface Entry {
  readonly event: LiveEvent;
  /** Position after the event. A delta advances it by its length, every other event by one. */
  readonly end: number;
  readonly size: number;
}

/**
 * The events of one session: the whole current run, and the latest events before it. Deltas are joined, and positions
 * count their characters, so that a viewer can resume in the middle of a text.
 */
export class SessionLog {
  #id: string;
  readonly #newId: () => string;
  #entries: Entry[] = [];
  #size = 0;
  #end = 0;
  /** Position of the first event that is still in the log. */
  #start = 0;
  /** The current run and its start position. */
  #run: LoggedRun | undefined;
  /** A run of an earlier process that was resumed, once it has ended. */
  #resumedRun: LoggedRun | undefined;
  /** The id of the run that was resumed. */
  #resumedId: string | undefined;

  /** @param newId creates an id that distinguishes cursors of this log from those of other logs */
  constructor(newId: () => string) {
    this.#newId = newId;
    this.#id = newId();
  }

  get isRunning(): boolean {
    return this.#run !== undefined;
  }

  /**
   * Keeps the events of a resumed run after its end, until the next run starts. Viewers may reconnect only then, with a
   * cursor of the earlier process.
   */
  keepResumed(runId: string): void {
    this.#resumedId = runId;
  }

  /** Appends an event and returns the cursor after it. */
  add(event: LiveEvent): string {
    if (event.type === "run.start") {
      this.#run = { id: event.runId, start: this.#end };
      this.#resumedRun = undefined;
    }
    this.#end += isDelta(event) ? event.delta.length : 1;
    const last = this.#entries.at(-1);
    if (isDelta(event) && last?.event.type === event.type && last.event.runId === event.runId) {
      this.#remove(this.#entries.length - 1);
      this.#append({ ...last.event, delta: last.event.delta + event.delta });
    } else {
      // Progress is cumulative, so only the latest event of a call is kept.
      if (event.type === "tool.update") this.#remove(this.#entries.findLastIndex(isUpdateOf(event.call.id)));
      this.#append(event);
    }
    // A chat command can end while another run is current.
    if (event.type === "run.end" && this.#run?.id === event.runId) {
      if (event.runId === this.#resumedId) this.#resumedRun = this.#run;
      this.#run = undefined;
    }
    this.#trim();
    return this.#createCursor(this.#end);
  }

  /** Removes the text since the last finished message. Existing cursors become invalid. */
  retract(): void {
    while (this.#isRetractable(this.#entries.at(-1))) this.#remove(this.#entries.length - 1);
    this.#id = this.#newId();
  }

  /** Returns the events of the current run. */
  running(): readonly LoggedEvent[] {
    return this.#run === undefined ? [] : this.#since(this.#run.start);
  }

  resume(after?: string): ResumeResult {
    const position = after === undefined ? undefined : this.#parseCursor(after);
    const cursor = this.#createCursor(this.#end);
    if (position === undefined) {
      const isOfEarlierProcess = after !== undefined && this.#run === undefined;
      const kept = isOfEarlierProcess ? this.#resumedRun : undefined;
      return {
        resumed: false,
        events: kept === undefined ? this.running() : this.#since(kept.start),
        cursor,
      };
    }
    return { resumed: true, events: this.#since(position), cursor };
  }

  #parseCursor(cursor: string): number | undefined {
    const [, id, digits] = /^([^.]*)\.(\d+)$/.exec(cursor) ?? [];
    const position = Number(digits);
    return id === this.#id && position >= this.#start && position <= this.#end ? position : undefined;
  }

  #createCursor(position: number): string {
    return `${this.#id}.${position}`;
  }

  #since(position: number): readonly LoggedEvent[] {
    return this.#entries
      .filter(({ end }) => end > position)
      .map(({ event, end }) => ({
        // The viewer may have seen the beginning of a joined delta.
        event: isDelta(event) ? { ...event, delta: event.delta.slice(-(end - position)) } : event,
        cursor: this.#createCursor(end),
      }));
  }

  #append(event: LiveEvent): void {
    const size = isDelta(event) ? event.delta.length : JSON.stringify(event).length;
    this.#entries.push({ event, end: this.#end, size });
    this.#size += size;
  }

  #remove(index: number): void {
    const [entry] = index < 0 ? [] : this.#entries.splice(index, 1);
    this.#size -= entry?.size ?? 0;
  }

  #isRetractable(entry: Entry | undefined): boolean {
    return entry !== undefined && isDelta(entry.event) && this.#run?.id === entry.event.runId;
  }

  #trim(): void {
    const runStart = (this.#run ?? this.#resumedRun)?.start ?? this.#end;
    let [oldest] = this.#entries;
    while (oldest !== undefined && this.#size > MAX_CHARS && oldest.end <= runStart) {
      this.#start = oldest.end;
      this.#remove(0);
      [oldest] = this.#entries;
    }
  }
}

function isUpdateOf(callId: string): (entry: Entry) => boolean {
  return ({ event }) => event.type === "tool.update" && event.call.id === callId;
}

export function isDelta(event: LiveEvent): event is Extract<LiveEvent, { readonly delta: string }> {
  return event.type === "text.delta" || event.type === "thinking.delta";
}
