/** An account of a channel. */
export interface AccountOfChannel {
  readonly channel: string;
  readonly account: string;
}

/**
 * Returns the name of an account's lease. Only the holder of that lease sends through the account; if there is no
 * holder, any process may.
 */
export function accountLease({ channel, account }: AccountOfChannel): string {
  return `account ${channel}/${account}`;
}
