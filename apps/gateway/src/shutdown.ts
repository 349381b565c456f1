/** Reason of an abort that leaves the run to be resumed by the next process. */
export class ShutdownAbort extends Error {
  override readonly name = "ShutdownAbort";
}
