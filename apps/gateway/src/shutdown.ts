/** Abort reason that leaves the run for the next process to resume. */
export class ShutdownAbort extends Error {
  override readonly name = "ShutdownAbort";
}
