/** Identifies an account of a channel. */
export interface AccountOfChannel {
  readonly channel: string;
  readonly account: string;
}

/**
 * Returns the name of an account's lease. Only the holder of this lease sends through the account. If there is no
 * holder, any process may send.
 */
export function accountLease({ channel, account }: AccountOfChannel): string {
  return `account ${channel}/${account}`;
}
