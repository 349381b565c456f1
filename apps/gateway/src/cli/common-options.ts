/** Options every command takes, also those that need no home. */
export interface CommonOptions {
  readonly home?: string;
  readonly json?: boolean;
}
