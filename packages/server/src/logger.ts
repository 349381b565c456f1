/** Where the server writes what goes wrong; pino's loggers are such. */
export interface Logger {
  debug(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
