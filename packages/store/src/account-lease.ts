/** An account of a channel. */
export interface AccountOfChannel {
  readonly channel: string;
  readonly account: string;
}

/**
 * The name of an account's lease. Messages to be sent through an account are left to the holder of its lease; if no one
 * holds it, any process may send them.
 */
export function accountLease({ channel, account }: AccountOfChannel): string {
  return `account ${channel}/${account}`;
}
