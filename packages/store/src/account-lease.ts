/** An account of a channel. */
export interface AccountOfChannel {
  readonly channel: string;
  readonly account: string;
}

/**
 * The name of the lease of whoever runs an account. What is to be sent by an account is left to the holder of its
 * lease; where nobody holds it, anybody may send it.
 */
export function accountLease({ channel, account }: AccountOfChannel): string {
  return `account ${channel}/${account}`;
}
