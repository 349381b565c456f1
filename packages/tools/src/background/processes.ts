import { randomBytes } from "node:crypto";
import { PassThrough } from "node:stream";
import { reasonOf } from "@signalbox/agent-core";
import type { SandboxOutcome } from "../sandbox/types.ts";
import type { RunFacts, TaintMark } from "../types.ts";

/** A command that runs beside the run that started it. */
interface BackgroundCommand {
  readonly sessionKey: string;
  readonly command: string;
  /** Of the run that started it, as they were then. */
  readonly facts: RunFacts;
  /** Runs it until it ends or the signal does. */
  readonly run: (io: {
    readonly signal: AbortSignal;
    readonly input: PassThrough;
    readonly onOutput: (output: string) => void;
  }) => Promise<SandboxOutcome>;
  /** What a run has seen that is shown this output. */
  readonly taintOf: (output: string) => readonly TaintMark[];
}

/** The same once it was started. */
export interface BackgroundProcess extends Omit<BackgroundCommand, "run"> {
  /** No later process of the gateway gives it to another command. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** What is kept of its output so far. */
  output(): string;
  /** How it ended; absent while it runs. A text where it could not be run. */
  end(): SandboxOutcome | string | undefined;
  /** Resolves when it has ended, or after so many milliseconds; with `orOutput` also when it says something. */
  wait(ms: number, orOutput?: boolean): Promise<void>;
  /** Gives it a text to read; `undefined` ends its input. Gives whether it takes any: not once that has ended. */
  write(text: string | undefined): boolean;
  /** Ends it, with everything that it started. */
  kill(): Promise<void>;
}

type Whose =
  | { readonly sessionKey: string }
  | { readonly agentId: string }
  | { readonly isOf: (speaker: string) => boolean };

/** The commands in the background of all conversations. */
export interface Processes {
  /** Starts one; a text says why it may not. */
  start(command: BackgroundCommand): BackgroundProcess | string;
  /** Those that go on, in any conversation. */
  running(): readonly BackgroundProcess[];
  /** Those of a conversation, ended ones until they have been seen. */
  of(sessionKey: string): readonly BackgroundProcess[];
  /** Whoever has seen how it ended needs it no more. */
  forget(process: BackgroundProcess): void;
  /** Ends those of a conversation, of an agent or of speakers, or all of them: then none is started any more. */
  end(whose?: Whose): Promise<void>;
}

const MAX_OF_SESSION = 4;
const MAX_ALL = 16;
/** Ended ones that nobody has asked about. */
const MAX_ENDED = 32;

export interface ProcessesOptions {
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
  /** Default: by chance. */
  readonly makeId?: () => string;
}

export function createProcesses(options: ProcessesOptions = {}): Processes {
  const { now = Date.now, makeId = idByChance } = options;
  const all: BackgroundProcess[] = [];
  let isClosed = false;
  const running = (): readonly BackgroundProcess[] => all.filter((process) => process.end() === undefined);
  const forget = (process: BackgroundProcess): void => {
    const at = all.indexOf(process);
    if (at >= 0) all.splice(at, 1);
  };
  return {
    start(command) {
      if (isClosed) return "Nothing can be started: the gateway is stopping.";
      const ofSession = running().filter(({ sessionKey }) => sessionKey === command.sessionKey).length;
      if (ofSession >= MAX_OF_SESSION)
        return `There are already ${ofSession} commands in the background. End one with process.`;
      if (running().length >= MAX_ALL) return "Too many commands are in the background right now.";
      const ended = all.filter((process) => process.end() !== undefined);
      for (const process of ended.slice(0, Math.max(0, ended.length - MAX_ENDED + 1))) forget(process);
      const process = begin(command, makeId(), now());
      all.push(process);
      return process;
    },
    running,
    of: (sessionKey) => all.filter((process) => process.sessionKey === sessionKey),
    forget,
    async end(whose) {
      isClosed ||= whose === undefined;
      const theirs = all.filter(({ facts }) => isTheirs(facts, whose));
      await Promise.all(theirs.map((process) => process.kill()));
      for (const process of theirs) forget(process);
    },
  };
}

/** A count would begin anew with each start, and lead a conversation that goes on to a command of another. */
function idByChance(): string {
  return `p${randomBytes(4).toString("hex")}`;
}

function isTheirs({ agentId, sessionKey, speaker }: RunFacts, whose: Whose | undefined): boolean {
  if (whose === undefined) return true;
  if ("isOf" in whose) return speaker !== undefined && whose.isOf(speaker);
  return "agentId" in whose ? agentId === whose.agentId : sessionKey === whose.sessionKey;
}

function begin({ run, ...command }: BackgroundCommand, id: string, startedAt: number): BackgroundProcess {
  const killing = new AbortController();
  const input = new PassThrough();
  let output = "";
  let end: SandboxOutcome | string | undefined;
  let said = Promise.withResolvers<void>();
  const onOutput = (text: string): void => {
    output = text;
    said.resolve();
    said = Promise.withResolvers();
  };
  const ended = run({ signal: killing.signal, input, onOutput }).then(
    (outcome) => {
      output = outcome.output;
      end = outcome;
    },
    (error: unknown) => {
      end = reasonOf(error);
    },
  );
  return {
    ...command,
    id,
    startedAt,
    output: () => output,
    end: () => end,
    async wait(ms, orOutput = false) {
      const limit = Promise.withResolvers<void>();
      const timer = setTimeout(limit.resolve, ms);
      await Promise.race([ended, limit.promise, ...(orOutput ? [said.promise] : [])]);
      clearTimeout(timer);
    },
    write(text) {
      const isOpen = !input.writableEnded;
      if (text === undefined) input.end();
      else if (isOpen) input.write(text);
      return isOpen;
    },
    async kill() {
      killing.abort();
      await ended;
    },
  };
}
