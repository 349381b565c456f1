import { randomBytes } from "node:crypto";
import { PassThrough } from "node:stream";
import { reasonOf } from "@signalbox/agent-core";
import type { SandboxOutcome } from "../sandbox/types.ts";
import type { RunFacts, TaintMark } from "../types.ts";

/** A command that runs in the background of a conversation. */
interface BackgroundCommand {
  readonly sessionKey: string;
  readonly command: string;
  /** Facts about the run that started the command, as of the start. */
  readonly facts: RunFacts;
  /** Runs the command until it ends or the signal is aborted. */
  readonly run: (io: {
    readonly signal: AbortSignal;
    readonly input: PassThrough;
    readonly onOutput: (output: string) => void;
  }) => Promise<SandboxOutcome>;
  /** Returns the taint for a run that reads this output. */
  readonly getTaint: (output: string) => readonly TaintMark[];
}

/** A background command that has been started. */
export interface BackgroundProcess extends Omit<BackgroundCommand, "run"> {
  /** The id is random, so that it is not reused after a restart of the gateway. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Returns the output so far. Long output is shortened in the middle. */
  output(): string;
  /** Returns the outcome, the error message if the command could not run, or undefined while it is running. */
  end(): SandboxOutcome | string | undefined;
  /** Resolves when the command has ended or after `ms` milliseconds. With `orOutput`, also resolves on new output. */
  wait(ms: number, orOutput?: boolean): Promise<void>;
  /**
   * Writes to the command's standard input, or closes it if the string is undefined. Returns false if the input was
   * already closed.
   */
  write(text: string | undefined): boolean;
  /** Kills the command and all processes that it started. */
  kill(): Promise<void>;
}

type CommandFilter =
  | { readonly sessionKey: string }
  | { readonly agentId: string }
  | { readonly matches: (speaker: string) => boolean };

/** The background commands of all conversations. */
export interface Processes {
  /** Starts a command. If it may not start, returns the reason as a string. */
  start(command: BackgroundCommand): BackgroundProcess | string;
  /** Returns the running commands of all conversations. */
  running(): readonly BackgroundProcess[];
  /** Returns the commands of a conversation, including commands that have ended but were not forgotten yet. */
  list(sessionKey: string): readonly BackgroundProcess[];
  /** Removes a command that has ended and whose outcome was reported. */
  forget(process: BackgroundProcess): void;
  /**
   * Kills the commands of a conversation, an agent or matching speakers. Without an argument, kills all commands and
   * refuses to start new ones.
   */
  end(filter?: CommandFilter): Promise<void>;
}

const MAX_PER_SESSION = 4;
const MAX_RUNNING = 16;
/** Maximum number of commands that have ended and whose outcome was not read yet. Older ones are dropped. */
const MAX_ENDED = 32;

export interface ProcessesOptions {
  /** Returns the time in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
  /** Creates the id of a command. Default: a random id. */
  readonly makeId?: () => string;
}

export function createProcesses(options: ProcessesOptions = {}): Processes {
  const { now = Date.now, makeId = createRandomId } = options;
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
      if (ofSession >= MAX_PER_SESSION)
        return `There are already ${ofSession} commands in the background. End one with process.`;
      if (running().length >= MAX_RUNNING) return "Too many commands are in the background right now.";
      const ended = all.filter((process) => process.end() !== undefined);
      for (const process of ended.slice(0, Math.max(0, ended.length - MAX_ENDED + 1))) forget(process);
      const process = startProcess(command, makeId(), now());
      all.push(process);
      return process;
    },
    running,
    list: (sessionKey) => all.filter((process) => process.sessionKey === sessionKey),
    forget,
    async end(filter) {
      isClosed ||= filter === undefined;
      const matching = all.filter(({ facts }) => matchesFilter(facts, filter));
      await Promise.all(matching.map((process) => process.kill()));
      for (const process of matching) forget(process);
    },
  };
}

/**
 * Creates a random id. A counter would restart with the process, so an id from an earlier process could refer to
 * another command.
 */
function createRandomId(): string {
  return `p${randomBytes(4).toString("hex")}`;
}

function matchesFilter(
  { agentId, sessionKey, speaker }: RunFacts,
  filter: CommandFilter | undefined,
): boolean {
  if (filter === undefined) return true;
  if ("matches" in filter) return speaker !== undefined && filter.matches(speaker);
  return "agentId" in filter ? agentId === filter.agentId : sessionKey === filter.sessionKey;
}

function startProcess(
  { run, ...command }: BackgroundCommand,
  id: string,
  startedAt: number,
): BackgroundProcess {
  const killing = new AbortController();
  const input = new PassThrough();
  let output = "";
  let end: SandboxOutcome | string | undefined;
  let newOutput = Promise.withResolvers<void>();
  const onOutput = (text: string): void => {
    output = text;
    newOutput.resolve();
    newOutput = Promise.withResolvers();
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
      await Promise.race([ended, limit.promise, ...(orOutput ? [newOutput.promise] : [])]);
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
