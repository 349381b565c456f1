/** Options every command takes. */
export interface CommonOptions {
  readonly home?: string;
  readonly json?: boolean;
}
