import { Socket } from "node:net";
import type { StartedProgram } from "./process.ts";

/** Programs that wait to be told what to do, of which one is started before anybody asks for it. */
export interface Prestart {
  /** The one that waits, or one that starts now. */
  take(): StartedProgram;
  /** Has one wait from now on. */
  prepare(): void;
}

/**
 * Most of what it takes to start a command is waiting for the kernel, which makes a process wait for a grace period of
 * 10 to 20 ms when it enters a group: it is over by the time that a command comes. A program that waits does not keep
 * this process alive, and ends with it, since its descriptors are closed then.
 */
export function createPrestart(start: () => StartedProgram): Prestart {
  let waiting: StartedProgram | undefined;

  const forget = (program: StartedProgram): void => {
    if (waiting !== program) return;
    waiting = undefined;
    void program.group?.remove();
  };
  const started = (): StartedProgram | undefined => {
    try {
      return start();
    } catch {
      // Whoever takes one hears why none can be started.
      return undefined;
    }
  };
  return {
    take() {
      if (waiting === undefined) return start();
      const program = waiting;
      waiting = undefined;
      program.child.removeAllListeners();
      program.child.ref();
      for (const stream of program.child.stdio) if (stream instanceof Socket) stream.ref();
      return program;
    },
    prepare() {
      if (waiting !== undefined) return;
      const program = started();
      if (program === undefined) return;
      waiting = program;
      program.child.once("error", () => forget(program)).once("exit", () => forget(program));
      program.child.unref();
      for (const stream of program.child.stdio) if (stream instanceof Socket) stream.unref();
    },
  };
}
