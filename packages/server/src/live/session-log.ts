import type { LiveEvent } from "@signalbox/protocol";

/** How much of what is over is kept, in characters: beyond it the oldest goes first. */
const KEPT_CHARS = 200_000;

/** An event of a session, and the place behind it. */
export interface LoggedEvent {
  readonly event: LiveEvent;
  readonly cursor: string;
}

/** What a viewer is shown first. */
export interface Resumed {
  /** These are all the events after the viewer's cursor; otherwise, those of the run that goes on. */
  readonly resumed: boolean;
  readonly events: readonly LoggedEvent[];
  /** The place behind all of them. */
  readonly cursor: string;
}

interface Entry {
  readonly event: LiveEvent;
  /** How much has been said in the session with it: a delta counts its characters, anything else one. */
  readonly end: number;
  readonly size: number;
}

/**
 * The events of one session: all of the run that goes on, and the latest before it. Text is joined, and a place in it
 * is counted in characters, so that a viewer who comes back in the middle of a sentence is shown the rest of it.
 */
export class SessionLog {
  #id: string;
  readonly #newId: () => string;
  #entries: Entry[] = [];
  #size = 0;
  #end = 0;
  /** From here on nothing is missing. */
  #start = 0;
  /** The run that goes on, and where it began. */
  #run: { readonly id: string; readonly start: number } | undefined;

  /** @param newId makes what tells the cursors of this log from those of another one */
  constructor(newId: () => string) {
    this.#newId = newId;
    this.#id = newId();
  }

  get isRunning(): boolean {
    return this.#run !== undefined;
  }

  /** Gives the cursor behind it. */
  add(event: LiveEvent): string {
    if (event.type === "run.start") this.#run = { id: event.runId, start: this.#end };
    this.#end += isDelta(event) ? event.delta.length : 1;
    const last = this.#entries.at(-1);
    if (isDelta(event) && last?.event.type === event.type && last.event.runId === event.runId) {
      this.#take(this.#entries.length - 1);
      this.#put({ ...last.event, delta: last.event.delta + event.delta });
    } else {
      // Progress says all of it anew each time.
      if (event.type === "tool.update") this.#take(this.#entries.findLastIndex(isUpdateOf(event.call.id)));
      this.#put(event);
    }
    // A command can end while a turn goes on.
    if (event.type === "run.end" && this.#run?.id === event.runId) this.#run = undefined;
    this.#trim();
    return this.#cursorAt(this.#end);
  }

  /** What was written since the last finished step is void. Whoever saw it nevertheless has to begin anew. */
  retract(): void {
    while (this.#isRetractable(this.#entries.at(-1))) this.#take(this.#entries.length - 1);
    this.#id = this.#newId();
  }

  /** The events of the run that goes on. */
  running(): readonly LoggedEvent[] {
    return this.#run === undefined ? [] : this.#since(this.#run.start);
  }

  resume(after?: string): Resumed {
    const place = after === undefined ? undefined : this.#placeOf(after);
    const cursor = this.#cursorAt(this.#end);
    if (place === undefined) return { resumed: false, events: this.running(), cursor };
    return { resumed: true, events: this.#since(place), cursor };
  }

  #placeOf(cursor: string): number | undefined {
    const [, id, place] = /^([^.]*)\.(\d+)$/.exec(cursor) ?? [];
    const at = Number(place);
    return id === this.#id && at >= this.#start && at <= this.#end ? at : undefined;
  }

  #cursorAt(place: number): string {
    return `${this.#id}.${place}`;
  }

  #since(place: number): readonly LoggedEvent[] {
    return this.#entries
      .filter(({ end }) => end > place)
      .map(({ event, end }) => ({
        // Of a text that was seen in part, the rest.
        event: isDelta(event) ? { ...event, delta: event.delta.slice(-(end - place)) } : event,
        cursor: this.#cursorAt(end),
      }));
  }

  #put(event: LiveEvent): void {
    const size = isDelta(event) ? event.delta.length : JSON.stringify(event).length;
    this.#entries.push({ event, end: this.#end, size });
    this.#size += size;
  }

  #take(index: number): void {
    const [entry] = index < 0 ? [] : this.#entries.splice(index, 1);
    this.#size -= entry?.size ?? 0;
  }

  #isRetractable(entry: Entry | undefined): boolean {
    return entry !== undefined && isDelta(entry.event) && this.#run?.id === entry.event.runId;
  }

  #trim(): void {
    const kept = this.#run?.start ?? this.#end;
    let [oldest] = this.#entries;
    while (oldest !== undefined && this.#size > KEPT_CHARS && oldest.end <= kept) {
      this.#start = oldest.end;
      this.#take(0);
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
