/** Options of every command, including those that need no home. */
export interface CommonOptions {
  readonly home?: string;
  readonly json?: boolean;
}
