import { getStoreError, isRetryable, type StoreErrorCode } from "@signalbox/store/errors";

/** The state of the store according to the last write of the gateway. */
export interface StoreHealth {
  /** Returns the error of the last write, or undefined if it succeeded. */
  fault(): StoreErrorCode | undefined;
  /** Records a write that succeeded. */
  works(): void;
  /** Records the error of a write. Other errors than those of the store's disk or server are ignored. */
  failed(error: unknown): void;
}

export function createStoreHealth(): StoreHealth {
  let fault: StoreErrorCode | undefined;
  return {
    fault: () => fault,
    works() {
      fault = undefined;
    },
    failed(error) {
      const cause = getStoreError(error);
      if (isRetryable(cause)) fault = cause?.code;
    },
  };
}
