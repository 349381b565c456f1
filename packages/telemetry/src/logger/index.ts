export { createLogger, type Logger, serviceLogger } from "./logger.ts";
