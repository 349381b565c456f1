export { copyFile } from "./copy-file.ts";
export { inspectPostgres, type PostgresReport } from "./inspect.ts";
export { openPostgresStore } from "./open.ts";
export type { PostgresStoreOptions, PostgresTimeouts } from "./options.ts";
