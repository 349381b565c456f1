import { z } from "zod";

export const storeSchema = z
  .strictObject({
    url: z
      .string()
      .regex(/^postgres(ql)?:\/\/\S+$/, "must begin with postgres://")
      .optional()
      .describe(
        "The PostgreSQL database, as `postgres://user:password@host:5432/name`. By default, the state is in the SQLite file `signalbox.db` in the home.",
      ),
  })
  .describe("The database of the gateway. The gateway does not start if this section has an error.");
