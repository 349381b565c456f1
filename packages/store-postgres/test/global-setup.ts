import { startPostgres } from "@signalbox/testkit/postgres";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of the server's database `postgres`. Empty if there is no server. */
    postgresUrl: string;
    /** The id of the server's process. */
    postgresPid: number;
    /** The reason why there is no server. */
    postgresMissing: string;
  }
}

/** Starts one PostgreSQL server for all tests of this package. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const server = await startPostgres();
  const isMissing = typeof server === "string";
  project.provide("postgresUrl", isMissing ? "" : server.url());
  project.provide("postgresPid", isMissing ? 0 : server.pid);
  project.provide("postgresMissing", isMissing ? server : "");
  return isMissing ? undefined : () => server.stop();
}
