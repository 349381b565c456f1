type Line = (fields: Readonly<Record<string, unknown>>, message: string) => void;

/** The log as pino has it. */
export interface DeliveryLogger {
  readonly debug: Line;
  readonly warn: Line;
  readonly error: Line;
}
