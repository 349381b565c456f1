/** Identifies an account of a channel. */
export interface AccountOfChannel {
  readonly channel: string;
  readonly account: string;
}

/**
 * Returns the name of an account's lease. Only the holder of this lease receives messages through the account. Every
 * process may send.
 */
export function accountLease({ channel, account }: AccountOfChannel): string {
  return `account ${channel}/${account}`;
}
