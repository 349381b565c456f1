import { isClientError } from "@signalbox/client";

/** A dialog that waits for the user to sign in again. */
interface Request {
  readonly resolve: (isSignedIn: boolean) => void;
}

let request: Request | undefined;
const listeners = new Set<() => void>();

function setRequest(next: Request | undefined): void {
  request = next;
  for (const listener of listeners) listener();
}

/** Subscribes to {@link getRequest}. */
export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Returns the open request for a sign-in, if any. */
export function getRequest(): Request | undefined {
  return request;
}

/** Closes the dialog. */
export function answerRequest(isSignedIn: boolean): void {
  request?.resolve(isSignedIn);
  setRequest(undefined);
}

/**
 * Sends a request. If the gateway requires a recent sign-in, asks the user to sign in and sends the request again.
 *
 * @throws the error of the request, also if the user does not sign in
 */
export async function withRecentSignIn<T>(send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (!isClientError(error) || error.code !== "sign_in_again") throw error;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    request?.resolve(false);
    setRequest({ resolve });
    if (!(await promise)) throw error;
    return send();
  }
}
