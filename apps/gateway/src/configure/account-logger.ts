import type { ChannelLogger } from "@signalbox/channel";

/** Any logger that takes fields before the message. */
type FieldsFirst = Readonly<Record<keyof ChannelLogger, (fields: object, message: string) => void>>;

/** Wraps a logger whose level may change. An account cannot log under another account's name. */
export function accountLogger(log: FieldsFirst, account: string): ChannelLogger {
  return {
    debug: (message, fields) => log.debug({ ...fields, account }, message),
    info: (message, fields) => log.info({ ...fields, account }, message),
    warn: (message, fields) => log.warn({ ...fields, account }, message),
    error: (message, fields) => log.error({ ...fields, account }, message),
  };
}
