export { createLogFile, createLogger, type LogFile, type Logger, serviceLogger } from "./logger.ts";
